"""Which check keeps another from being tried: one answer for a grade and for an audit."""

from __future__ import annotations

from collections.abc import Mapping

from grader.model.report import CheckResult
from grader.model.spec import Check
from grader.model.verdict import Verdict

GOOD_ENOUGH = frozenset(
    {Verdict.PASS, Verdict.INCONCLUSIVE}
)  # what is too close to call blocks none


def unmet(check: Check, done: Mapping[str, CheckResult]) -> str | None:
    """The first check that it needs and that was not good enough, if any."""
    return next((need for need in check.needed if done[need].verdict not in GOOD_ENOUGH), None)
