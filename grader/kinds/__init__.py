"""F3: one file a kind of check; each compares programs and returns a CheckResult."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from grader.bench.bench import BankFault, Bench
from grader.bench.tally import Stopped
from grader.model import extension
from grader.model import spec as model
from grader.model.report import CheckResult
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import ProgramError

Run = Callable[[Bench, Any], CheckResult]

# By kind, the module and the function that carries it out; modules are imported when needed.
BUILT_IN = {
    "outputs": ("outputs", "check_outputs"),
    "gradcheck": ("gradcheck", "check_gradients"),
    "contract": ("contract", "check_contract"),
    "state": ("state", "check_state"),
    "numbers": ("numbers", "check_numbers"),
    "curve": ("curve", "check_curve"),
    "graph": ("graph", "check_graph"),
    "memory": ("graph", "check_memory"),
    "flops": ("graph", "check_flops"),
    "performance": ("performance", "check_performance"),
}


def run_check(bench: Bench, check: model.Check) -> CheckResult:
    """Carry out one check.

    Raises:
        Stopped: the submission's process is gone; its result says how.
        BankFault: the reference, the spec or an extension fails.
    """
    return runner(check.kind)(bench, check)


def runner(kind: str) -> Run:
    """The function that carries out a kind of check.

    Raises:
        BankFault: there is no such kind.
    """
    if kind in BUILT_IN:
        module, function = BUILT_IN[kind]
        found: Run = getattr(import_module(f"grader.kinds.{module}"), function)
        return found
    try:
        extended = extension.kind(kind)
    except extension.ExtensionError as error:
        raise BankFault(str(error)) from None
    if extended is None:
        raise BankFault(f"no installed package gives the kind of check {kind!r}")
    return _blamed(kind, extended.run)


def _blamed(kind: str, run: Run) -> Run:
    """Carry out an extension's kind: what goes wrong in its own code is not ours."""

    def carry_out(bench: Bench, check: model.Check) -> CheckResult:
        try:
            return run(bench, check)
        except (BankFault, ProgramError, Stopped, WorkerError):
            raise
        except Exception as error:  # whatever somebody else's code raises
            said = " ".join(str(error).split())
            raise BankFault(
                f"{check.id}: the extension of kind {kind} raised {type(error).__name__}: {said}"
            ) from error

    return carry_out
