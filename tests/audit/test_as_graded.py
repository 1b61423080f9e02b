"""An audit says of a check what a grade would: the same results block the same checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.audit.proof import as_graded
from grader.bank import load
from grader.model.report import CheckResult
from grader.model.verdict import Verdict
from tests.asking import with_checks

pytestmark = pytest.mark.usefixtures("one_zygote")

MINI = Path(__file__).parents[1] / "banks" / "mini"


@pytest.mark.parametrize(
    ("verdict", "then"),
    [
        (Verdict.PASS, Verdict.PASS),
        (Verdict.INCONCLUSIVE, Verdict.PASS),
        (Verdict.FAIL, Verdict.SKIPPED),
        (Verdict.SKIPPED, Verdict.SKIPPED),
    ],
)
def test_what_is_too_close_to_call_blocks_no_check(verdict: Verdict, then: Verdict) -> None:
    question = load([MINI], "deviations")
    by_id = {check.id: check for check in question.spec.checks}
    checks = [
        by_id["speed"].model_copy(update={"needs": []}),
        by_id["forward"].model_copy(update={"needs": ["speed"]}),
    ]
    results = {
        "speed": CheckResult("speed", "performance", verdict, ""),
        "forward": CheckResult("forward", "outputs", Verdict.PASS, ""),
    }
    graded, _ = as_graded(with_checks(question, checks), results)
    assert [result.verdict for result in graded.values()] == [verdict, then]
