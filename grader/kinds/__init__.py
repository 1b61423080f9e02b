"""One file for each kind of check; `registry` finds them."""

from __future__ import annotations

from grader.kinds import registry
from grader.kinds.base import Check, CheckResult, kit
from grader.model import extension


def run_check(bench: kit.Bench, check: Check) -> CheckResult:
    """Carry out one check.

    Raises:
        Stopped: the submission's process is gone; its result says how.
        BankFault: the reference, the spec or an extension fails.
    """
    try:
        kind = registry.get(check.kind)
    except extension.ExtensionError as error:
        raise kit.BankFault(str(error)) from None
    try:
        return kind.carry_out(bench, check)
    except Exception as error:  # whatever somebody else's code raises
        known = (kit.BankFault, kit.ProgramError, kit.Stopped, kit.WorkerError)
        if registry.is_built_in(check.kind) or isinstance(error, known):
            raise
        raise kit.BankFault(
            f"{check.id}: the extension of kind {check.kind} raised {extension.what(error)}"
        ) from error
