"""One file for each kind of check; `registry` finds them."""

from __future__ import annotations

from grader.kinds import registry
from grader.kinds.base import Check, CheckResult, api


def run_check(evaluation: api.Evaluation, check: Check) -> CheckResult:
    """Carry out one check.

    Raises:
        Stopped: the submission's process is gone; its result says how.
        BankFault: the reference or the spec fails.
    """
    return registry.get(check.kind).carry_out(evaluation, check)
