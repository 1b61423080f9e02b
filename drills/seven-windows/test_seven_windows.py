"""The numbers of `seven-windows` are those of torch."""

from __future__ import annotations

import pytest

from tests.harness import Program, load_text, question_of


def test_the_numbers_are_those_of_torch(reference: Program) -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor([1.0, 4, 4, 2, 9, 3, 9], dtype=torch.float64, requires_grad=True)
    y = torch.nn.functional.max_pool1d(x[None, None], 3, 2)
    (grad,) = torch.autograd.grad(y, x, torch.tensor([[[2.0, 3, 5]]], dtype=torch.float64))
    given = (x.detach().tolist(), 3, 2, [2.0, 3.0, 5.0])
    assert reference.entries(*given) == {f"grad_x[{i}]": grad[i].item() for i in (1, 4, 6)}


@pytest.mark.parametrize(("idea", "total"), [("all-winners", 17), ("even-split", 10)])
def test_the_totals_of_the_text(idea: str, total: float) -> None:
    question = question_of(__file__)
    program = load_text(question.reference, *question.variants[idea])
    x = [1.0, 4.0, 4.0, 2.0, 9.0, 3.0, 9.0]
    assert sum(program.shares(x, 3, 2, [2.0, 3.0, 5.0])) == pytest.approx(total)
