"""The numbers of `three-rows` are those of torch."""

from __future__ import annotations

import math

import pytest

from tests.harness import Program


def test_the_numbers_are_those_of_torch(reference: Program) -> None:
    torch = pytest.importorskip("torch")
    logits = torch.tensor([[0.0, math.log(3), math.log(6)]] * 3, dtype=torch.float64)
    targets = torch.tensor([1, 0, -1])
    logits.requires_grad_()
    (slopes,) = torch.autograd.grad(
        torch.nn.functional.cross_entropy(logits, targets, ignore_index=-1), logits
    )
    found = reference.entries([1.0, 3.0, 6.0], 1, 2, 3)
    assert list(found.values()) == pytest.approx(slopes[0].tolist(), abs=1e-15)
