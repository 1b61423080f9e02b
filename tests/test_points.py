"""How questions divide their points: who has a part of it right has part of the points."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from grader import bank
from grader.explain.session import GradingSession
from grader.model.report import Report
from grader.model.spec import Part
from tests.harness import ROOT

pytestmark = pytest.mark.usefixtures("one_zygote")

EVERY = sorted(path.stem for path in (ROOT / "questions").glob("*.yaml"))
# Parts with one thing to find: the starter passes the rest, or all checks look at the same fault.
WHOLE = {
    ("adamw", 1), ("autograd-tape", 1), ("hooked-gradients", 1), ("int8-linear", 1),
    ("layernorm-backward", 1), ("moe-router", 1), ("reversible-stack", 1), ("rope", 1),
    ("tile-kernel", 1),
}  # fmt: skip


def divided(part: Part) -> bool:
    """Return True if each check that costs the part is worth points, or is needed by one."""
    return sum(check.points or 0 for check in part.checks) == part.points


def test_every_part_is_divided_but_where_one_thing_is_to_be_found() -> None:
    parts = {
        (name, number): part
        for name in EVERY
        for number, part in enumerate(bank.load_question([ROOT], name).spec.parts, 1)
    }
    assert {place for place, part in parts.items() if not divided(part)} == WHOLE


def graded(name: str, text: str) -> Report:
    question = bank.load_question([ROOT], name)
    with GradingSession(question) as session:
        file = "submission.py" if text.count("def ") else "answers.txt"
        return session.grade(text.encode(), seed=11, filename=file)


ANSWERS: Mapping[str, tuple[str, int]] = {
    "decode-on-paper": (
        "kv_token = 96 KiB\nkv_total = 28.3 GB\ndecode_intensity = 33.6\ndecode_time = 17.3 ms\n"
        "prefill_time = 431 ms\n", 80,
    ),
    "seven-windows": ("grad_x[1] = 2\ngrad_x[4] = 3\ngrad_x[6] = 0\n", 66),
    "softmax-five-lines": (
        "L = -sum(k, y[k] * log(p[k]))\ndL_dp[i] = -y[i] / p[i]\n"
        "dp_dz[i,j] = p[i] * (d(i, j) - p[j])\n"
        "chain[j] = sum(i, -y[i] / p[i] * p[i] * (d(i, j) - p[j]))\ndL_dz[j] = y[j] - p[j]\n", 80,
    ),
    "data-parallel-review": (
        "approve = no\n12 = overwritten\n13 = wrong-count\n14 = precision\n19 = caller-changed\n",
        70,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_who_answers_most_of_it_has_most_of_the_points(name: str) -> None:
    text, points = ANSWERS[name]
    report = graded(name, text)
    assert [part.points for part in report.parts] == [points], report.message


def test_a_convolution_with_one_wrong_function_has_the_points_of_the_others() -> None:
    question = bank.load_question([ROOT], "conv1d-per-step")
    wrong = "\n\ndef train_step(w, b, x, target, lr, stride=1, padding=0):\n    return w, b, 0.0\n"
    report = graded(question.id, question.reference.decode() + wrong)
    assert [part.points for part in report.parts] == [35, 0, 0]


@pytest.mark.parametrize("name", ["conv1d-per-step", "loss-scaling", "mlp-two-layer"])
def test_a_starter_with_a_remark_more_has_no_points(name: str) -> None:
    report = graded(name, bank.load_question([ROOT], name).starter.decode() + "\n# I tried.\n")
    assert sum(part.points for part in report.parts) == 0
