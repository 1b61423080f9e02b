"""Bytes reachable from an object: all of its data, each allocation once, and no bookkeeping."""

from __future__ import annotations

import array
import collections
import ctypes
import functools
import io
import itertools
import operator
import types
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

from grader.sandbox.worker.measure.reach import reachable


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


@dataclass(slots=True)
class Below(Slotted):
    """Add a slot to those of its base."""

    c: Any = None


class Pair(NamedTuple):
    """Keep things in a tuple with names."""

    a: Any
    b: Any


class Mapped(dict[str, Any]):
    """Keep things in a dict and beside it."""


class Counted(np.ndarray[Any, np.dtype[Any]]):
    """Be an array with attributes."""


def kilo() -> Any:
    """Return 1000 bytes in an array of their own."""
    return np.zeros(125)


def closure() -> Callable[[], Any]:
    """Return a function that keeps an array in a cell."""
    kept = kilo()
    return lambda: kept


def with_argument() -> Callable[[Any], Any]:
    """Return a function of one argument that keeps an array in a cell."""
    kept = kilo()
    return lambda _: kept


def empty_cell() -> types.FunctionType:
    """Return a function whose only cell is empty."""
    code = (lambda: None).__code__.replace(co_freevars=("kept",))
    return types.FunctionType(code, {}, closure=(types.CellType(),))


def method() -> Any:
    """Return a bound method of an object that keeps an array."""

    class Keeper:
        def __init__(self) -> None:
            self.kept = kilo()

        def use(self) -> Any:
            return self.kept

    return Keeper().use


def generator() -> Iterator[Any]:
    """Return a generator that keeps an array in its frame."""

    def steps() -> Iterator[Any]:
        kept = kilo()
        yield 1
        yield kept

    running = steps()
    next(running)
    return running


def with_default() -> Any:
    """Return a function with arrays for defaults."""
    kept = kilo()

    def function(a: Any = kept, *, b: Any = kept) -> Any:
        return a, b

    return function


def with_attribute() -> Any:
    """Return a function with an attribute."""

    def function() -> None:
        pass

    function.kept = kilo()  # type: ignore[attr-defined]
    return function


def mapped() -> Mapped:
    """Return a dict with an attribute."""
    made = Mapped(a=kilo())
    made.kept = kilo()  # type: ignore[attr-defined]
    return made


def counted() -> Counted:
    """Return an array with an attribute."""
    made = kilo().view(Counted)
    made.kept = kilo()
    return made  # type: ignore[no-any-return]


def listed() -> list[Any]:
    """Return a list with an attribute."""

    class Listed(list[Any]):
        pass

    made = Listed([kilo()])
    made.kept = kilo()  # type: ignore[attr-defined]
    return made


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
        (lambda: memoryview(bytes(9)), 9),
        (lambda: array.array("d", [1.0, 2.0]), 16),
        (lambda: range(10**9), 0),
        (lambda: np.dtype("float64"), 0),
        (lambda: int, 0),
        (lambda: ..., 0),
        (kilo, 1000),
        (lambda: np.zeros((0, 9)), 0),
        (lambda: np.broadcast_to(np.zeros(5), (1000, 5)), 40),
        (lambda: {"a": kilo(), "b": kilo()}, 2000),
        (lambda: {1: kilo(), 2: 3}, 1024),
        (lambda: [kilo(), (kilo(),)], 2000),
        (lambda: {1, 2, 3}, 24),
        (lambda: frozenset([1.5]), 8),
        (lambda: collections.deque([kilo(), 1]), 1008),
        (lambda: collections.OrderedDict(a=kilo()), 1000),
        (lambda: collections.defaultdict(list, a=kilo()), 1000),
        (lambda: collections.Counter("aab"), 16),
        (lambda: collections.ChainMap({"a": kilo()}), 1000),
        (lambda: types.SimpleNamespace(a=kilo()), 1000),
        (lambda: types.MappingProxyType({"a": kilo()}), 1000),
        (lambda: Plain(kilo(), 1), 1008),
        (lambda: Slotted(kilo(), kilo()), 2000),
        (lambda: Below(kilo(), kilo(), kilo()), 3000),
        (lambda: Pair(kilo(), 1), 1008),
        (mapped, 2000),
        (counted, 2000),
        (listed, 2000),
        (closure, 1000),
        (empty_cell, 0),
        (method, 1000),
        (with_attribute, 1000),
        (lambda: functools.partial(closure()), 1000),
        (with_default, 1000),
        (lambda: np.array([kilo(), None, 3], object), 1000 + 24 + 8),
    ],
)  # fmt: skip
def test_all_data_is_reached_and_nothing_else(make: Callable[[], Any], expected: int) -> None:
    assert reachable_bytes(make()) == expected


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: np, 0),
        (lambda: len, 0),
        (lambda: functools.partial(print, kilo(), end=kilo()), 2000),
        (lambda: types.MethodType(print, Plain(kilo())), 1000),
        (lambda: np.ma.masked_array(kilo(), np.zeros(125, bool)), 1125),
        (lambda: iter([kilo()]), 1000),
        (lambda: zip([kilo()], [kilo()], strict=True), 2000),
        (lambda: map(str, [kilo()]), 1000),
        (lambda: enumerate([kilo()]), 1000),
        (lambda: {"a": kilo()}.values(), 1000),
        (lambda: property(with_argument()), 1000),
        (lambda: staticmethod(closure()), 1000),
        (lambda: functools.lru_cache(closure()), 1000),
        (lambda: collections.UserDict(a=kilo()), 1000),
        (lambda: np.nditer(kilo()), 1000),
        (lambda: kilo().flat, 1000),
        (lambda: ValueError(kilo()), 1000),
        (generator, 1000),
        (lambda: kilo().sum, 1000),
        (lambda: [kilo()].append, 1000),
        (lambda: int.from_bytes(b"\x7f" * 1000, "little"), 1000),
        (lambda: "\u20ac" * 500, 1000),
        (lambda: "\xe9" * 1000, 1000),
        (lambda: "\U0001f600" * 250, 1000),
        (lambda: (ctypes.c_double * 125)(), 1000),
        (lambda: itertools.cycle([kilo()]), 1000),
        (lambda: operator.methodcaller("f", kilo()), 1000),
        (lambda: functools.cached_property(with_argument()), 1000),
        (lambda: kilo().__getitem__, 1000),
        (lambda: collections.deque([[kilo()]]).copy(), 1000),
        (lambda: weakref.ref(closure()), 0),
        (lambda: io.StringIO, 0),
    ],
)
def test_nothing_hides_in_an_odd_place(make: Callable[[], Any], expected: int) -> None:
    assert expected <= reachable_bytes(make()) <= expected + 100  # names and flags of its own


def test_a_view_counts_the_allocation_behind_it_once() -> None:
    base = np.zeros(1000)
    assert reachable_bytes(base[:1]) == 8000
    assert reachable_bytes([base[:1], base[1:2], base.reshape(10, 100).T, base]) == 8000
    assert reachable_bytes(base[::2][1:].reshape(-1)[:3]) == 8000
    assert reachable_bytes(base[:1].copy()) == 8


def test_a_view_of_bytes_counts_the_bytes_once() -> None:
    data = bytes(800)
    assert reachable_bytes([np.frombuffer(data), np.frombuffer(data)[3:], data]) == 800
    view = memoryview(bytearray(80))
    assert reachable_bytes([view[:8], view]) == 80


def test_the_same_object_twice_counts_once() -> None:
    one = kilo()
    assert reachable_bytes([one, one, {"a": one}, Plain(one, one)]) == 1000


def test_circles_end() -> None:
    ring: list[Any] = [kilo()]
    ring.append(ring)
    node = Plain(ring)
    node.b = node
    assert reachable_bytes(node) == 1000


def test_looking_uses_nothing_up_and_changes_nothing() -> None:
    running = generator()
    queue = collections.deque([1, 2])
    iterator = iter([kilo()])
    reachable_bytes([running, queue, iterator])
    assert next(running).size == 125
    assert list(queue) == [1, 2]
    assert next(iterator).size == 125


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
