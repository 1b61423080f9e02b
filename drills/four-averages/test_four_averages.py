"""The numbers of `four-averages` are those of torch."""

from __future__ import annotations

import pytest

from tests.harness import load_text, question_of

QUESTION = question_of(__file__)
PLACES = ((0, 0), (1, 2), (1, 1))


@pytest.mark.parametrize("counted", [True, False])
def test_the_numbers_are_those_of_torch(counted: bool) -> None:
    torch = pytest.importorskip("torch")
    x = torch.zeros(1, 1, 3, 3, dtype=torch.float64, requires_grad=True)
    y = torch.nn.functional.avg_pool2d(x, 3, 2, 1, count_include_pad=counted)
    grad_y = torch.tensor([[[[1.0, 2], [4, 8]]]], dtype=torch.float64)
    (grad,) = torch.autograd.grad(y, x, grad_y)
    assert grad.sum().item() == pytest.approx(20 / 3 if counted else 15)
    idea = [] if counted else QUESTION.variants["padding-not-counted"]
    program = load_text(QUESTION.reference, *idea)
    found = program.entries(3, 3, 2, 1, grad_y[0, 0].tolist())
    right = {f"grad_x[{r},{c}]": grad[0, 0, r, c].item() for r, c in PLACES}
    assert found == pytest.approx(right)
