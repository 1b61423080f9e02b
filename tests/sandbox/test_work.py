"""Operations that a run is said to consist of: named as they are, and repeated elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Measured, unwanted
from grader.sandbox.sending import Inputs
from grader.sandbox.worker.messages import MOST_WORK, Task, Work
from tests.harness import Lend
from tests.sandbox.running import load, started, steps

pytest.importorskip("torch")

SOURCE = """\
import torch
def product(x, w): return x @ w
def several(x, w): return (x @ w).relu() + (x[:2] @ w).sum()
def batched(x, w): return torch.bmm(x.expand(6, *x.shape), w.expand(6, *w.shape))
def vector(x, w): return w.t() @ x[0]
def inner(x, w): return torch.dot(x[0], w[:, 0])
def added(x, w): return torch.addmm(x.new_ones(5), x, w)
def convolved(x, w): return torch.conv1d(x[None], torch.ones(2, 3, 2, dtype=x.dtype))
def varied(x, w): return sum((x[:, :k].sum() + torch.ones(k)).sum() for k in range(1, 300))
"""
X: Inputs = {
    "x": {"value": np.ones((3, 4)), "tensor": True},
    "w": {"value": np.ones((4, 5)), "tensor": True},
}


@pytest.fixture(scope="module")
def program(lend: Lend) -> Iterator[RemoteProgram]:
    """Give the one program of this file."""
    with started(torch=True, zygote=lend(torch=True)) as worker:
        yield load(worker, SOURCE, seconds=60)


def measured(program: RemoteProgram, function: str) -> Measured:
    """Count what a function does."""
    return program.measure("flops", steps(f"y = {function}(x, w)"), X)


@pytest.mark.parametrize(
    ("function", "products"),
    [
        ("product", [Work("float64", 1, 3, 4, 5)]),
        ("several", [Work("float64", 1, 2, 4, 5), Work("float64", 1, 3, 4, 5)]),
        ("batched", [Work("float64", 6, 3, 4, 5)]),
        ("vector", [Work("float64", 1, 5, 4, 1)]),
        ("inner", [Work("float64", 1, 1, 4, 1)]),
        ("added", [Work("float64", 1, 3, 4, 5)]),
    ],
)
def test_products_are_named_by_their_sizes(
    program: RemoteProgram, function: str, products: list[Work]
) -> None:
    found = measured(program, function)
    assert sorted(w for w in found.work if w.inner) == products
    assert sum(2 * w.batch * w.rows * w.inner * w.columns * w.times for w in found.work) == (
        found.value
    )


def test_all_else_is_named_by_what_it_gives(program: RemoteProgram) -> None:
    found = [w for w in measured(program, "several").work if not w.inner]
    assert sorted(found) == [Work("float64", 1, 1, 0, 1), Work("float64", 1, 1, 0, 15, 2)]


@pytest.mark.parametrize("function", ["convolved", "varied"])
def test_what_cannot_be_repeated_is_not_named(program: RemoteProgram, function: str) -> None:
    assert measured(program, function).work == ()


def test_a_list_that_is_not_what_was_counted_is_no_reply() -> None:
    task, one = Task("submission", (), {}), Work("float32", 1, 3, 4, 5)
    assert unwanted(Measured(120, work=(one,)), (), task) == ""
    assert unwanted(Measured(119, work=(one,)), (), task) == "work"
    assert unwanted(Measured(120 * 300, work=(one,) * 300), (), task) == "work"
    assert len((one,) * 300) > MOST_WORK
    assert unwanted(Measured(120, work=(one._replace(rows=-3, inner=-4),)), (), task) == "work"
    assert unwanted(Measured(120, work=(one._replace(dtype="object"),)), (), task) == "work"
    assert (
        unwanted(Measured(0, elements=4, work=(Work("float32", 1, 1, 0, 5),)), (), task) == "work"
    )
