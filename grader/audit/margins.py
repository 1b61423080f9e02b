"""How far is each tolerance from right programs, and how far from wrong ones?

Both are measured as the worst deviation over what is allowed, and shown as its logarithm.  Right
programs are the reference on inputs moved by one unit in the last place, the reference in the
case's own dtype, and its gradients against differences.  The wrong one is the variant that a
check stops by its values and that comes closest to passing: a wrong shape or a NaN needs no
tolerance, and does not count.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from grader.bench.bench import BankFault, Bench
from grader.kinds import registry
from grader.model.audit import CheckFacts, Margin, Remark
from grader.model.report import CheckResult
from grader.model.spec import Check
from grader.model.verdict import Verdict
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import ProgramError

NARROW = 2.0  # orders of magnitude between right and wrong below which a tolerance is in doubt


class Margins:
    """What all programs have shown on all seeds, by check."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.right: defaultdict[str, list[float]] = defaultdict(list)
        self.wrong: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)

    def measure(self, bench: Bench, name: str, results: Mapping[str, CheckResult]) -> None:
        """Hold the bench's submission against the tolerance of every check that has one."""
        for check in bench.question.spec.checks:
            verdict = results[check.id].verdict
            if not registry.get(check.kind).has_tolerance(check):
                continue
            if name == "reference" and verdict is Verdict.PASS:
                self.right[check.id].append(_right(bench, check))
            elif name != "reference" and verdict is Verdict.FAIL:
                self.wrong[check.id].append((_wrong(bench, check), name))

    def of(self, check: str) -> Margin | None:
        """What a check's measurements come to; None where there are none of right programs."""
        if check not in self.right:
            return None
        worst = max(self.right[check])
        far, name = min((w for w in self.wrong[check] if math.isfinite(w[0])), default=(0.0, ""))
        return Margin(
            right=round(math.log10(worst), 2) if worst > 0 else None,
            # A check may stop a program by a law besides its tolerance.
            wrong=round(math.log10(far), 2) if far > 1 else None,
            closest=name if far > 1 else "",
        )


def _right(bench: Bench, check: Check) -> float:
    """The worst deviation of right programs over what is allowed; 0 where none deviates."""
    kind, reference = registry.get(check.kind), bench.with_bank_program(bench.reference)
    cases = bench.cases_of(check)
    worst = max((kind.right_deviation(reference, check, case) for case in cases), default=0.0)
    return worst if math.isfinite(worst) else 0.0


def _wrong(bench: Bench, check: Check) -> float:
    """The worst deviation of the bench's submission; infinity where no tolerance is in question."""
    kind, cases = registry.get(check.kind), bench.cases_of(check)
    try:
        return max((kind.deviation(bench, check, case) for case in cases), default=math.inf)
    except (ProgramError, WorkerError, BankFault):
        return math.inf


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
