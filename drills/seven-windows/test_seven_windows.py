"""The numbers of `seven-windows` are those of torch."""

from __future__ import annotations

import types
from pathlib import Path

import pytest

from grader import bank

QUESTION = bank.load([Path(__file__).parents[2]], "seven-windows")


def test_the_numbers_are_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor([1.0, 4, 4, 2, 9, 3, 9], dtype=torch.float64, requires_grad=True)
    y = torch.nn.functional.max_pool1d(x[None, None], 3, 2)
    (grad,) = torch.autograd.grad(y, x, torch.tensor([[[2.0, 3, 5]]], dtype=torch.float64))
    program = types.ModuleType("reference")
    exec(QUESTION.reference, vars(program))
    given = (x.detach().tolist(), 3, 2, [2.0, 3.0, 5.0])
    assert program.entries(*given) == {f"grad_x[{i}]": grad[i].item() for i in (1, 4, 6)}


@pytest.mark.parametrize(("idea", "total"), [("all-winners", 17), ("even-split", 10)])
def test_the_totals_of_the_text(idea: str, total: float) -> None:
    program = types.ModuleType(idea)
    (variant,) = QUESTION.variants[idea]
    for source in (QUESTION.reference, variant):
        exec(source, vars(program))
    x = [1.0, 4.0, 4.0, 2.0, 9.0, 3.0, 9.0]
    assert sum(program.shares(x, 3, 2, [2.0, 3.0, 5.0])) == pytest.approx(total)
