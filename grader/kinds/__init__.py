"""One file for each kind of check; `registry` finds them."""

from __future__ import annotations

from grader.kinds import registry
from grader.kinds.base import Check, CheckResult, api
from grader.model import extension


def run_check(evaluation: api.Evaluation, check: Check) -> CheckResult:
    """Carry out one check.

    Raises:
        Stopped: the submission's process is gone; its result says how.
        BankFault: the reference, the spec or an extension fails.
    """
    try:
        kind = registry.get(check.kind)
    except extension.ExtensionError as error:
        raise api.BankFault(str(error)) from None
    try:
        return kind.carry_out(evaluation, check)
    except Exception as error:  # whatever somebody else's code raises
        known = (api.BankFault, api.ProgramError, api.Stopped, api.WorkerError)
        if registry.is_built_in(check.kind) or isinstance(error, known):
            raise
        raise api.BankFault(
            f"{check.id}: the extension of kind {check.kind} raised {extension.what(error)}"
        ) from error
