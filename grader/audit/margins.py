"""How far is each tolerance from right programs, and how far from wrong ones?

Both are measured as the worst deviation over what is allowed, and shown as its logarithm.  Right
programs are the reference on inputs moved by one unit in the last place, the reference in the
case's own dtype, and its gradients against differences.  The wrong one is the variant that a
check stops by its values and that comes closest to passing: a wrong shape or a NaN needs no
tolerance, and does not count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from grader.bench.bench import BankFault, Bench
from grader.kinds import registry
from grader.model.audit import Margin, Remark
from grader.model.spec import Check
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import ProgramError

NARROW = 2.0  # orders of magnitude between right and wrong below which a tolerance is in doubt


def has_tolerance(check: Check) -> bool:
    """Whether a check allows a deviation at all."""
    return registry.get(check.kind).has_tolerance(check)


def right(bench: Bench, check: Check) -> float:
    """The worst deviation of right programs over what is allowed; 0 where none deviates.

    Args:
        bench: any program's; the reference's side of it is measured.
        check: one that has a tolerance.
    """
    kind, reference = registry.get(check.kind), bench.with_bank_program(bench.reference)
    cases = bench.cases_of(check)
    worst = max((kind.right_deviation(reference, check, case) for case in cases), default=0.0)
    return worst if math.isfinite(worst) else 0.0


def wrong(bench: Bench, check: Check) -> float:
    """The worst deviation of the bench's submission; infinity where no tolerance is in question.

    Args:
        bench: with a program that the check does not pass.
        check: one that has a tolerance.
    """
    kind, cases = registry.get(check.kind), bench.cases_of(check)
    try:
        return max((kind.deviation(bench, check, case) for case in cases), default=math.inf)
    except (ProgramError, WorkerError, BankFault):
        return math.inf


def margin(rights: Sequence[float], wrongs: Sequence[tuple[float, str]]) -> Margin:
    """What a check's measurements over all seeds come to."""
    worst = max(rights, default=0.0)
    closest = min((w for w in wrongs if math.isfinite(w[0])), default=None)
    return Margin(
        right=round(math.log10(worst), 2) if worst > 0 else None,
        # A check may stop a program by a law that has no tolerance.
        wrong=None if closest is None or closest[0] <= 1 else round(math.log10(closest[0]), 2),
        closest="" if closest is None or closest[0] <= 1 else closest[1],
    )


def remarks(margins: Sequence[tuple[str, Margin]]) -> list[Remark]:
    """Tolerances with too little room on both sides together."""
    return [
        Remark(
            "tolerance",
            f"{check}: only {m.gap:.1f} orders of magnitude lie between right programs and "
            f"{m.closest}, the closest wrong one; choose cases on which it is further off",
        )
        for check, m in margins
        if m.gap is not None and m.gap < NARROW
    ]
