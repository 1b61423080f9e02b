"""Products of matrices that a run is said to consist of."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Measured
from grader.sandbox.sending import Inputs
from grader.sandbox.worker.protocol import Product
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
def one(x, k): return x[:1, :1].expand(1, k) @ x[:1, :1].expand(k, 1)
def varied(x, w): return sum(one(x, k).sum() for k in range(1, 300))
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
        ("product", [Product(1, 3, 4, 5, 1)]),
        ("several", [Product(1, 2, 4, 5, 1), Product(1, 3, 4, 5, 1)]),
        ("batched", [Product(6, 3, 4, 5, 1)]),
        ("vector", [Product(1, 5, 4, 1, 1)]),
        ("inner", [Product(1, 1, 4, 1, 1)]),
        ("added", [Product(1, 3, 4, 5, 1)]),
    ],
)
def test_products_are_named_by_their_sizes(
    program: RemoteProgram, function: str, products: list[Product]
) -> None:
    found = measured(program, function)
    assert sorted(found.products) == products
    assert sum(2 * math.prod(one) for one in found.products) == found.value


@pytest.mark.parametrize("function", ["convolved", "varied"])
def test_what_is_no_product_of_few_sizes_is_not_named(
    program: RemoteProgram, function: str
) -> None:
    assert measured(program, function).products == ()
