"""One file for each kind of check; `registry` finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.bench.bench import Bench
    from grader.model.report import CheckResult
    from grader.model.spec import Check


def run_check(bench: Bench, check: Check) -> CheckResult:
    """Carry out one check.

    Raises:
        Stopped: the submission's process is gone; its result says how.
        BankFault: the reference, the spec or an extension fails.
    """
    from grader.bench.bench import BankFault
    from grader.bench.tally import Stopped
    from grader.kinds import registry
    from grader.model.extension import ExtensionError
    from grader.sandbox.client import WorkerError
    from grader.sandbox.replies import ProgramError

    try:
        kind = registry.get(check.kind)
    except ExtensionError as error:
        raise BankFault(str(error)) from None
    try:
        return kind.carry_out(bench, check)
    except (BankFault, ProgramError, Stopped, WorkerError):
        raise
    except Exception as error:  # whatever somebody else's code raises
        if check.kind in registry.BUILT_IN:
            raise
        said = " ".join(str(error).split())
        raise BankFault(
            f"{check.id}: the extension of kind {check.kind} raised {type(error).__name__}: {said}"
        ) from error
