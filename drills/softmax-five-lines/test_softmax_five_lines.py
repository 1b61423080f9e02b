"""The lines of `softmax-five-lines`: by autograd, and what is named of wrong ones."""

from __future__ import annotations

import pytest

from grader.explain.session import GradingSession
from grader.model.report import Verdict
from tests.harness import Program, assert_close, named

LINES = """L = {L}
dL_dp[i] = {dL_dp}
dp_dz[i,j] = {dp_dz}
chain[j] = {chain}
dL_dz[j] = {dL_dz}
"""
RIGHT = {
    "L": "-sum(k, y[k] * log(p[k]))",
    "dL_dp": "-y[i] / p[i]",
    "dp_dz": "p[i] * (d(i, j) - p[j])",
    "chain": "sum(k, -y[k] * (d(k, j) - p[j]))",
    "dL_dz": "p[j] - y[j]",
}
WRONG = {  # what the table of the question's ideas says of each, and two that are not listed
    ("L", "-log(sum(k, y[k] * p[k]))"): "log-of-the-sum",
    ("dL_dp", "y[i] / p[i]"): "minus-forgotten",
    ("dL_dp", "-1 / p[i]"): "weight-forgotten",
    ("dp_dz", "d(i,j) * p[i] * (1 - p[i])"): "diagonal-only",
    ("dp_dz", "p[i] * (p[j] - d(i,j))"): "softmax-sign",
    ("chain", "sum(k, d(k, j) * y[k] * (p[j] - 1))"): "own-term-only",
    ("dL_dz", "y[j] - p[j]"): "descent-direction",
    ("dL_dz", "y[j] * (p[j] - 1)"): "target-only",
    ("dL_dz", "p[j] * (p[j] - y[j])"): "sigmoid-habit",
    # Beyond the list: no idea may be named.
    ("L", "sum(k, y[k] * log(p[k]))"): "loss-without-minus",
    ("L", "-sum(k, log(p[k]))"): "loss-without-weights",
    ("L", "-sum(k, y[k] * p[k])"): "",
    ("L", "-sum(k, y[k] * log(p[k])) / 3"): "",
    ("dL_dp", "-y[i]"): "",
    ("dL_dp", "-log(p[i])"): "",
    ("dL_dp", "-p[i] / (y[i] + 1)"): "",
    ("dp_dz", "p[i] * (1 - p[j])"): "delta-forgotten",
    ("dp_dz", "p[i] * (1 - p[i])"): "delta-forgotten",
    ("dp_dz", "-p[i] * p[j]"): "own-logit-forgotten",
    ("dp_dz", "p[j] * (d(i, j) - p[j])"): "",
    ("dp_dz", "d(i, j) * p[i]"): "",
    ("chain", "sum(k, y[k] * (d(k, j) - p[j]))"): "",
    ("chain", "sum(k, -y[k] / p[k])"): "",
    ("dL_dz", "2 * (p[j] - y[j])"): "",
    ("dL_dz", "p[j]"): "",
    ("dL_dz", "p[j] - 1"): "weights-lost",
    ("dL_dz", "exp(z[j]) - y[j]"): "",
}


@pytest.mark.parametrize("line", WRONG, ids=lambda line: f"{line[0]}: {line[1]}")
def test_a_wrong_line_is_named(line: tuple[str, str], session: GradingSession) -> None:
    text = LINES.format(**{**RIGHT, line[0]: line[1]})
    report = session.grade(text.encode(), seed=11, filename="answers.txt")
    assert report.verdict is Verdict.FAIL
    assert named(report) == ({WRONG[line]} if WRONG[line] else set())
    assert len([c for c in report.checks if c.verdict is Verdict.FAIL]) == 1


def test_the_lines_are_those_of_autograd(reference: Program) -> None:
    torch = pytest.importorskip("torch")
    z = torch.tensor([0.3, -1.2, 2.0, 0.1], dtype=torch.float64, requires_grad=True)
    weights = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
    loss = torch.nn.functional.cross_entropy(z[None], weights[None])
    (slope,) = torch.autograd.grad(loss, z)
    jacobian = torch.autograd.functional.jacobian(lambda a: a.softmax(0), z)
    p = z.detach().softmax(0).requires_grad_()
    (outer,) = torch.autograd.grad(-(weights * p.log()).sum(), p)
    args = (z.detach().numpy(), p.detach().numpy(), weights.numpy())
    found = [getattr(reference, line)(*args) for line in RIGHT]
    assert_close(found, [loss.item(), outer, jacobian, slope, slope], 1e-12)
