"""Bytes reachable from an object: all of its data, each allocation once, and no bookkeeping."""

from __future__ import annotations

import array
import collections
import functools
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from grader.sandbox.worker.measure.kept import reachable


def reachable_bytes(root: object) -> int:
    """Return the bytes of data."""
    return reachable(root)[0]


@dataclass
class Plain:
    """Keep things in a dict of attributes."""

    a: Any
    b: Any = None


@dataclass(slots=True)
class Slotted:
    """Keep things in slots."""

    a: Any
    b: Any = field(default=None)


def kilo() -> Any:
    """Return 1000 bytes in an array of their own."""
    return np.zeros(125)


def closure() -> Callable[[], Any]:
    """Return a function that keeps an array in a cell."""
    kept = kilo()
    return lambda: kept


def method() -> Any:
    """Return a bound method of an object that keeps an array."""

    class Keeper:
        def __init__(self) -> None:
            self.kept = kilo()

        def use(self) -> Any:
            return self.kept

    return Keeper().use


def with_default() -> Any:
    """Return a function with arrays for defaults."""
    kept = kilo()

    def function(a: Any = kept, *, b: Any = kept) -> Any:
        return a, b

    return function


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: None, 0),
        (lambda: 3, 8),
        (lambda: 2.5, 8),
        (lambda: np.float32(1), 8),
        (lambda: "text", 4),
        (lambda: b"bytes", 5),
        (lambda: bytearray(7), 7),
        (lambda: array.array("d", [1.0, 2.0]), 16),
        (lambda: range(10**9), 0),
        (lambda: np.dtype("float64"), 0),
        (lambda: int, 0),
        (kilo, 1000),
        (lambda: np.zeros((0, 9)), 0),
        (lambda: np.broadcast_to(np.zeros(5), (1000, 5)), 40),
        (lambda: {"a": kilo(), "b": kilo()}, 2000),
        (lambda: {1: kilo(), 2: 3}, 1024),
        (lambda: [kilo(), (kilo(),)], 2000),
        (lambda: {1, 2, 3}, 24),
        (lambda: frozenset([1.5]), 8),
        (lambda: collections.deque([kilo(), 1]), 1008),
        (lambda: collections.defaultdict(list, a=kilo()), 1000),
        (lambda: types.SimpleNamespace(a=kilo()), 1000),
        (lambda: Plain(kilo(), 1), 1008),
        (lambda: Slotted(kilo(), kilo()), 2000),
        (closure, 1000),
        (method, 1000),
        (lambda: functools.partial(closure()), 1000),
        (with_default, 1000),
        (lambda: np.array([kilo(), None, 3], object), 1000 + 24 + 8),
    ],
)  # fmt: skip
def test_all_data_is_reached_and_nothing_else(make: Callable[[], Any], expected: int) -> None:
    assert reachable_bytes(make()) == expected


def test_a_view_counts_the_allocation_behind_it_once() -> None:
    base = np.zeros(1000)
    assert reachable_bytes(base[:1]) == 8000
    assert reachable_bytes([base[:1], base[1:2], base.reshape(10, 100).T, base]) == 8000
    assert reachable_bytes(base[::2][1:].reshape(-1)[:3]) == 8000
    assert reachable_bytes(base[:1].copy()) == 8


def test_the_same_object_twice_counts_once() -> None:
    one = kilo()
    assert reachable_bytes([one, one, {"a": one}, Plain(one, one)]) == 1000


def test_circles_end() -> None:
    ring: list[Any] = [kilo()]
    ring.append(ring)
    node = Plain(ring)
    node.b = node
    assert reachable_bytes(node) == 1000


def test_a_deep_chain_does_not_exhaust_the_stack() -> None:
    chain: Any = kilo()
    for _ in range(100_000):
        chain = [chain]
    assert reachable_bytes(chain) == 1000


def test_an_object_that_resists_is_looked_into_all_the_same() -> None:
    class Hidden:
        def __init__(self) -> None:
            self.kept = kilo()

        def __getattribute__(self, name: str) -> Any:
            raise AttributeError(name)

    class Empty:
        __slots__ = ("never",)

    assert reachable_bytes(Hidden()) == 1000
    assert reachable_bytes(Empty()) == 0
