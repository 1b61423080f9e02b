"""Does a program of the bank compute the same when it is asked again?

Chance in a reference or a driver would widen the band by itself, and verdicts would be luck.  The
cases are taken in the other order, so that a program is caught too that counts its calls.
"""

from __future__ import annotations

import math
import time

from grader.evaluation.evaluation import BankFault, Evaluation, blame_bank
from grader.evaluation.results import same_value
from grader.sandbox.remote import RemoteProgram


class Unsteady(BankFault):
    """The same inputs do not give the same results."""


def require_steady(
    evaluation: Evaluation, program: RemoteProgram, *, patience: float = math.inf
) -> None:
    """Run a right program once more on every case, and hold it against the reference.

    Args:
        evaluation: with the reference, which is asked where it has not been yet.
        program: the reference itself, or another process's.
        patience: seconds after which no further case is tried.

    Raises:
        Unsteady: a result differs by more than ways of rounding do.
        BankFault: the reference fails.
    """
    began = time.monotonic()
    tried: set[tuple[str, str]] = set()
    for check in reversed(evaluation.checks):
        for case in reversed(evaluation.cases_of(check)):
            if (check.run, case.name) in tried or time.monotonic() - began > patience:
                continue
            tried.add((check.run, case.name))
            wanted = evaluation.wanted[check.run]
            first = evaluation.truth(check.run, case).values
            with (
                evaluation.limited(case),
                blame_bank(f"the reference fails on case {case.name} again"),
            ):
                program.limits = evaluation.reference.limits
                again = program.run(
                    evaluation.steps(check.run), evaluation.inputs(case, check.run), wanted
                ).values
            for name in wanted:
                if not same_value(first[name], again.get(name), case.dtype):
                    driven = any(step.owner == "driver" for step in evaluation.steps(check.run))
                    who = "the reference, or the driver," if driven else "the reference"
                    raise Unsteady(
                        f"{who} is not deterministic: computed twice from the same inputs, {name} "
                        f"of case {case.name} is not the same; take the chance out of it"
                    )
