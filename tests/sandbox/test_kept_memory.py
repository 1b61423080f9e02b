"""The memory that a run keeps: each allocation counts once, and copies of inputs have names."""

from __future__ import annotations

import array
import collections
import functools
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from grader.sandbox.messages import Inputs, unrequested_field
from grader.sandbox.remote_program import RemoteProgram
from grader.sandbox.worker.limits import MAX_KEPT_NAMES
from grader.sandbox.worker.measure.kept_memory import reachable_bytes
from grader.sandbox.worker.protocol import Measured
from tests.harness import Lend
from tests.sandbox.running import given, load, started, steps

SOURCE = """\
import numpy as np

class Holder:
    def __init__(self, value): self.value = value

class Shouting(np.ndarray):
    dtype = shape = nbytes = base = property(lambda self: 1 / 0)

KEEPS = {
    "itself": lambda x, y: x,
    "view": lambda x, y: x[1:, ::2],
    "result": lambda x, y: (y,),
    "copy": lambda x, y: {"a": x.copy()},
    "fortran": lambda x, y: np.array(x, order="F"),
    "flat": lambda x, y: x.ravel().copy(),
    "transposed": lambda x, y: x.T.copy(),
    "narrow": lambda x, y: x.astype(np.float32),
    "narrower": lambda x, y: x.astype(np.float16),
    "in-an-object": lambda x, y: Holder([x.copy(), y]),
    "cut-from-a-copy": lambda x, y: x.copy()[:2],
    "shouting": lambda x, y: x.copy().view(Shouting),
    "two-views": lambda x, y: (y[:1], y[1:], y),
    "mask": lambda x, y: x > 0,
    "indices": lambda x, y: np.arange(x.size),
    "padded": lambda x, y: np.pad(x, 1),
    "one-changed": lambda x, y: np.where(x == x.max(), 0, x),
    "nothing": lambda x, y: (3, "text", None),
    "many": lambda x, y: [x + i for i in range(1, 50)],
    "text": lambda x, y: ["x"] * 5,
}
def f(x, how):
    y = x * 2
    return y, KEEPS[how](x, y)
"""
X = np.arange(12.0).reshape(3, 4) + 0.1


@pytest.fixture(scope="module")
def program(lend: Lend) -> Iterator[RemoteProgram]:
    """Yield the program of this file, loaded in a worker."""
    with started(zygote=lend(torch=False)) as worker:
        yield load(worker, SOURCE)


def kept(program: RemoteProgram, how: str, x: Any = X) -> tuple[str, ...]:
    """Return the names of the arrays that the program keeps in ctx."""
    return program.measure("state", steps("y, ctx = f(x, how)"), given(x=x, how=how), of="ctx").kept


@pytest.mark.parametrize(
    ("how", "names"),
    {
        "itself": ("x",),
        "view": ("x",),
        "result": ("y",),
        "copy": ("x (copy)",),
        "fortran": ("x (copy)",),
        "flat": ("x (copy)",),
        "transposed": ("x (copy)",),
        "narrow": ("x (copy)",),
        "narrower": ("x (copy)",),
        "in-an-object": ("x (copy)", "y"),
        "shouting": ("x (copy)",),
        "two-views": ("y",),
        "cut-from-a-copy": ("other (view of 3x4 float64)",),
        "mask": ("other (3x4 bool)",),
        "indices": ("other (12 int64)",),
        "padded": ("other (5x6 float64)",),
        "one-changed": ("other (3x4 float64)",),
        "nothing": (),
        "text": (),
    }.items(),
)
def test_kept_arrays_have_names(program: RemoteProgram, how: str, names: tuple[str, ...]) -> None:
    assert sorted(kept(program, how)) == sorted(names)


def test_arrays_that_may_be_equal_by_chance_have_no_name(program: RemoteProgram) -> None:
    few = np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    assert kept(program, "copy", few) == ("other (2x3 float64)",)
    assert kept(program, "itself", few) == ("x",)
    # Numbers that happen to be indices are no indices.
    assert kept(program, "indices", np.arange(12.0)) == ("other (12 int64)",)


def test_an_array_that_equals_two_inputs_has_both_names(program: RemoteProgram) -> None:
    same = load(program.worker, "def f(x, how): return x * 1, x.copy()", "same")
    assert kept(same, "") == ("x or y (copy)",)


def test_infinite_and_nan_entries_are_compared_too(program: RemoteProgram) -> None:
    x = np.array([0.0, 1.0, 2.0, np.nan, -np.inf, 3.0])
    assert kept(program, "copy", x) == ("x (copy)",)


def test_names_are_few_and_the_largest_come_first(program: RemoteProgram) -> None:
    found = kept(program, "many")
    assert len(found) == MAX_KEPT_NAMES
    assert kept(load(program.worker, SMALL_FIRST, "sizes"), "") == ("x (copy)", "other (1 float64)")


SMALL_FIRST = "import numpy as np\ndef f(x, how): return x * 2, [np.ones(1), x.copy()]"


@pytest.mark.parametrize("names", [("x",) * (MAX_KEPT_NAMES + 1), ("x" * 1000,)])
def test_too_many_or_too_long_names_are_refused(names: tuple[str, ...]) -> None:
    assert unrequested_field(Measured(0, kept=names), ()) == "kept"
    assert unrequested_field(Measured(0, course=(1,) * 61), ()) == "course"


TORCH = """\
import torch

class Keeps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, how):
        y = x * 2
        ctx.save_for_backward(*KEEPS[how](ctx, x, y))
        return y
    @staticmethod
    def backward(ctx, g):
        return 2 * g, None

def on_ctx(ctx, *tensors):
    ctx.h = tensors
    return ()

KEEPS = {
    "itself": lambda ctx, x, y: (x,),
    "result": lambda ctx, x, y: (y,),
    "cast": lambda ctx, x, y: (x.bfloat16(),),
    "both": lambda ctx, x, y: (x.clone(), y, x > 0),
    "on-ctx": lambda ctx, x, y: on_ctx(ctx, x.t().clone(), y + 1),
}
def f(x, how): return Keeps.apply(x, how)
"""


@pytest.fixture(scope="module")
def torch_program(lend: Lend) -> Iterator[RemoteProgram]:
    """Yield a program with torch, loaded in a worker."""
    pytest.importorskip("torch")
    with started(torch=True, zygote=lend(torch=True)) as worker:
        yield load(worker, TORCH, seconds=60)


@pytest.mark.parametrize(
    ("quantity", "how", "names"),
    [
        ("saved", "itself", {"x"}),
        ("saved", "result", {"y"}),
        ("saved", "cast", {"x (copy)"}),
        ("saved", "both", {"x (copy)", "y", "other (3x4 bool)"}),
        ("live", "itself", set()),
        ("live", "cast", {"x (copy)"}),
        ("live", "on-ctx", {"x (copy)", "other (12 float32)"}),
    ],
)
def test_tensors_that_a_graph_keeps_have_names(
    torch_program: RemoteProgram, quantity: str, how: str, names: set[str]
) -> None:
    x = {"value": X.astype(np.float32), "tensor": True, "grad": True}
    inputs: Inputs = {"x": x, "how": {"value": how}}
    found = torch_program.measure(quantity, steps("y = f(x, how)"), inputs)
    assert set(found.kept) == names


# -- bytes -----------------------------------------------------------------------------------------


@dataclass
class Plain:
    a: Any
    b: Any = None


@dataclass(slots=True)
class Slotted:
    a: Any
    b: Any = field(default=None)


def kilo() -> Any:
    return np.zeros(125)


def closure() -> Callable[[], Any]:
    kept = kilo()
    return lambda: kept


class Keeper:
    def __init__(self) -> None:
        self.kept = kilo()

    def use(self) -> Any:
        return self.kept


def with_default() -> Any:
    kept = kilo()

    def function(a: Any = kept, *, b: Any = kept) -> Any:
        return a, b

    return function


def circles() -> Any:
    ring: list[Any] = [kilo()]
    ring.append(ring)
    node = Plain(ring)
    node.b = node
    return node


def deep() -> Any:
    chain: Any = kilo()
    for _ in range(100_000):
        chain = [chain]
    return chain


class Hidden:
    def __init__(self) -> None:
        self.kept = kilo()

    def __getattribute__(self, name: str) -> Any:
        raise AttributeError(name)


class Empty:
    __slots__ = ("never",)


BASE, ONE = np.zeros(1000), kilo()


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
        (lambda: Keeper().use, 1000),
        (lambda: functools.partial(closure()), 1000),
        (with_default, 1000),
        (lambda: np.array([kilo(), None, 3], object), 1000 + 24 + 8),
        (lambda: BASE[:1], 8000),  # the allocation behind a view, once
        (lambda: [BASE[:1], BASE[1:2], BASE.reshape(10, 100).T, BASE], 8000),
        (lambda: BASE[::2][1:].reshape(-1)[:3], 8000),
        (lambda: BASE[:1].copy(), 8),
        (lambda: [ONE, ONE, {"a": ONE}, Plain(ONE, ONE)], 1000),
        (circles, 1000),
        (deep, 1000),
        (Hidden, 1000),
        (Empty, 0),
    ],
)  # fmt: skip
def test_the_bytes_of_all_reachable_data_are_counted_and_nothing_else(
    make: Callable[[], Any], expected: int
) -> None:
    assert reachable_bytes(make()) == expected
