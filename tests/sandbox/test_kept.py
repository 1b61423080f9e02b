"""What a run keeps, by name: its inputs and results are recognized, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from grader.sandbox.messages import Inputs, unwanted
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.worker.protocol import MOST_KEPT, Kept, Measured
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
    """Give the one program of this file."""
    with started(zygote=lend(torch=False)) as worker:
        yield load(worker, SOURCE)


def kept(program: RemoteProgram, how: str, x: Any = X) -> tuple[str, ...]:
    """What the program keeps in ctx."""
    return program.state(steps("y, ctx = f(x, how)"), given(x=x, how=how), "ctx").kept


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
def test_what_is_kept_has_a_name(program: RemoteProgram, how: str, names: tuple[str, ...]) -> None:
    assert sorted(kept(program, how)) == sorted(names)


def test_equal_by_chance_is_not_the_same(program: RemoteProgram) -> None:
    few = np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    assert kept(program, "copy", few) == ("other (2x3 float64)",)
    assert kept(program, "itself", few) == ("x",)
    # Numbers that happen to be indices are no indices.
    assert kept(program, "indices", np.arange(12.0)) == ("other (12 int64)",)


def test_what_equals_two_things_is_called_by_both(program: RemoteProgram) -> None:
    same = load(program.worker, "def f(x, how): return x * 1, x.copy()", "same")
    assert kept(same, "") == ("x or y (copy)",)


def test_infinite_and_nan_entries_are_compared_too(program: RemoteProgram) -> None:
    x = np.array([0.0, 1.0, 2.0, np.nan, -np.inf, 3.0])
    assert kept(program, "copy", x) == ("x (copy)",)


def test_names_are_few_and_the_largest_come_first(program: RemoteProgram) -> None:
    found = kept(program, "many")
    assert len(found) == MOST_KEPT
    assert kept(load(program.worker, SMALL_FIRST, "sizes"), "") == ("x (copy)", "other (1 float64)")


SMALL_FIRST = "import numpy as np\ndef f(x, how): return x * 2, [np.ones(1), x.copy()]"


@pytest.mark.parametrize("names", [("x",) * (MOST_KEPT + 1), ("x" * 1000,)])
def test_more_or_longer_names_than_there_can_be_are_no_reply(names: tuple[str, ...]) -> None:
    assert unwanted(Kept(0, 0, 0, kept=names), ()) == "kept"
    assert unwanted(Measured(0, kept=names), ()) == "kept"


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
    """Give a program of torch."""
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
def test_what_a_graph_keeps_has_a_name(
    torch_program: RemoteProgram, quantity: str, how: str, names: set[str]
) -> None:
    x = {"value": X.astype(np.float32), "tensor": True, "grad": True}
    inputs: Inputs = {"x": x, "how": {"value": how}}
    found = torch_program.measure(quantity, steps("y = f(x, how)"), inputs)
    assert set(found.kept) == names
