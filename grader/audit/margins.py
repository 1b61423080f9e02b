"""How far is each tolerance from right programs, and how far from wrong ones?

Both are measured as the worst deviation over what is allowed, and shown as its logarithm.  Right
programs are the reference on inputs moved by one unit in the last place, the reference in the
case's own dtype, and its gradients against differences.  The wrong one is the variant that a
check stops by its values and that comes closest to passing: a wrong shape or a NaN needs no
tolerance, and does not count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from grader.audit.subjects import Subject
from grader.evaluation.evaluation import BankFault, Evaluation
from grader.kinds import registry
from grader.model.audit import CheckFacts, Margin, Remark
from grader.model.keys import Check
from grader.model.report import CheckResult
from grader.model.verdict import Verdict
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import ProgramError

NARROW = 2.0  # orders of magnitude between right and wrong below which a tolerance is in doubt


def deviations(
    evaluation: Evaluation, results: Mapping[str, CheckResult], *, right: bool
) -> dict[str, float]:
    """The worst deviation over what is allowed, of the evaluation's submission, by check.

    A check counts that has a tolerance, and that passes a right program or fails a wrong one.
    """
    telling = Verdict.PASS if right else Verdict.FAIL
    return {
        check.id: _worst(evaluation, check, right=right)
        for check in evaluation.question.spec.checks
        if results[check.id].verdict is telling and registry.get(check.kind).has_tolerance(check)
    }


def _worst(evaluation: Evaluation, check: Check, *, right: bool) -> float:
    """The worst deviation on any case; infinity where no tolerance is in question."""
    kind, cases = registry.get(check.kind), evaluation.cases_of(check)
    if right:
        reference = evaluation.with_bank_program(evaluation.reference)
        return max((kind.right_deviation(reference, check, c) for c in cases), default=math.inf)
    try:
        return max((kind.deviation(evaluation, check, c) for c in cases), default=math.inf)
    except (ProgramError, WorkerError, BankFault):
        return math.inf


def margin(subjects: Sequence[Subject], check: str) -> Margin | None:
    """What all programs have shown on all seeds; None where there is nothing of right ones."""
    right, *wrong = [
        [(seen.deviations[check], s.name) for seen in s.seen if check in seen.deviations]
        for s in subjects
    ]
    if not right:
        return None
    worst = max((deviation for deviation, _ in right if math.isfinite(deviation)), default=0.0)
    finite = [one for measured in wrong for one in measured if math.isfinite(one[0])]
    far, name = min(finite, default=(0.0, ""))
    return Margin(
        right=round(math.log10(worst), 2) if worst > 0 else None,
        # A check may stop a program by a law besides its tolerance.
        wrong=round(math.log10(far), 2) if far > 1 else None,
        closest=name if far > 1 else "",
    )


def remarks(checks: Sequence[CheckFacts]) -> list[Remark]:
    """Tolerances with too little room on both sides together."""
    return [
        Remark(
            "tolerance",
            f"{c.id}: only {c.margin.gap:.1f} orders of magnitude lie between right programs and "
            f"{c.margin.closest}, the closest wrong one; choose cases on which it is further off",
        )
        for c in checks
        if c.margin is not None and c.margin.gap is not None and c.margin.gap < NARROW
    ]
