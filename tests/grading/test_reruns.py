"""Results that are wrong only because of an earlier call are recognized."""

from __future__ import annotations

import pytest

from grader.grading.reruns import depends_on_earlier_calls
from tests.grading.kinds.grading import Desk, run_check

CENTRE = "def centre(x, w):\n    d = _centred(x)\n"
ADDS_UP = """\
_total = []
def spread(x):
    _total.append(float((_centred(x) ** 2).mean()))
    return sum(_total)
"""
FIRST_SHAPE = """\
_width = []
def centre(x, w):
    _width.append(x.shape[1])
    d = x - x[:, :_width[0]].mean(axis=-1, keepdims=True)
    return w * d, (d, np.array(w))
"""
RAISES_LATER = """\
_seen = []
def centre(x, w):
    d = _centred(x)
    _seen.append(x.shape)
    return w * d[:, : _seen[0][1]] if len(_seen) > 1 else w * d, (d, np.array(w))
"""
WRONG = CENTRE + "    return 2 * w * d, (d, np.array(w))\n"
AT_RANDOM = CENTRE + "    return w * d * np.random.choice([1, 2]), (d, np.array(w))\n"


@pytest.mark.parametrize(
    ("source", "run", "case", "expected"),
    [
        (ADDS_UP, "total", "rows", True),
        (FIRST_SHAPE, "main", "rows", True),
        (RAISES_LATER, "main", "rows", True),
        (WRONG, "main", "rows", False),
        (WRONG + ADDS_UP, "main", "rows", False),
        ("", "main", "rows", False),
    ],
)
def test_a_case_is_run_again_without_earlier_calls(
    deviations: Desk, source: str, run: str, case: str, expected: bool
) -> None:
    evaluation = deviations.evaluation(source)
    for check in evaluation.question.spec.checks[:3]:
        run_check(evaluation, check)
    assert depends_on_earlier_calls(evaluation, run, evaluation.cases[case]) is expected


def test_a_slow_program_is_not_run_again(deviations: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = deviations.evaluation(ADDS_UP)
    case = evaluation.cases["rows"]
    evaluation.subject_outcome("total", case)
    assert depends_on_earlier_calls(evaluation, "total", case)
    monkeypatch.setattr("grader.grading.reruns.MAX_RERUN_NANOSECONDS", 0)
    assert not depends_on_earlier_calls(evaluation, "total", case)
