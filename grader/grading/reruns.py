"""Run a program again, to find out if it depends on earlier calls or on chance."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

from grader.cases.recipe import CaseRecipe
from grader.grading.bank_errors import BankProgramError, blame_bank
from grader.grading.compare import find_mismatch
from grader.grading.evaluation import Evaluation
from grader.grading.values import same_value
from grader.sandbox.messages import Outcome, ProgramError
from grader.sandbox.remote_program import RemoteProgram

MAX_REPLAYED_CALLS = 40  # earlier calls that are made again
MAX_RERUN_NANOSECONDS = 500_000_000  # of CPU time; a slower program is not examined further
RunCall = tuple[str, CaseRecipe]  # a run and a case


def load_again(program: RemoteProgram) -> RemoteProgram:
    """Load a program into a second module of its process, with fresh globals."""
    copy = replace(program, name=f"{program.name}, anew")
    copy.load(())
    return copy


def rerun_in_fresh_module(evaluation: Evaluation, calls: Sequence[RunCall]) -> Outcome | None:
    """Load the submission again, make these calls and return the last outcome.

    Returns None if loading or the last call raises.  State outside of the submission's module is
    kept.

    Raises:
        WorkerError: The process did not survive.
    """
    try:
        program = load_again(evaluation.subject)
    except ProgramError:
        return None
    outcome = None
    for run, case in calls:
        program.limits = evaluation.limits_of(case)
        inputs = evaluation.inputs(case, run)
        try:
            outcome = program.run(evaluation.steps(run), inputs, evaluation.wanted_results[run])
        except ProgramError:
            outcome = None
    return outcome


def depends_on_earlier_calls(
    evaluation: Evaluation, run: str, case: CaseRecipe, results: Sequence[str] | None = None
) -> bool:
    """Return True if the submission is wrong on a case only because of an earlier call.

    The submission is run again in fresh modules.  The answer is True if `results` (default: all
    that some check needs) are right and always the same when nothing was called before, and always
    wrong after one of two histories: a call on the same case, or the calls that came before it in
    the grade.  If this takes more than half a second of CPU time, the answer is False.

    Raises:
        WorkerError: The submission's process did not survive.
        BankProgramError: The reference fails on the case.
    """
    names = evaluation.wanted_results[run] if results is None else tuple(results)
    call = (run, case)
    calls_made = evaluation.calls_made
    worker = evaluation.subject.worker
    start = worker.cpu_nanoseconds() or 0

    def is_always(history: Sequence[RunCall], *, wrong: bool) -> bool:
        """Return True if the call after this history is `wrong`, twice with the same results."""
        calls = (*history, call)
        # Two runs are needed: random results may be right once and wrong once.
        first = rerun_in_fresh_module(evaluation, calls)
        is_wrong = first is None or any(
            find_mismatch(evaluation, run, case, name, first) for name in names
        )
        nanoseconds = (worker.cpu_nanoseconds() or 0) - start
        if is_wrong is not wrong or nanoseconds > MAX_RERUN_NANOSECONDS:
            return False
        return _same_outcome(first, rerun_in_fresh_module(evaluation, calls), names)

    position = calls_made.index(call) if call in calls_made else len(calls_made)
    calls_before = calls_made[:position][-MAX_REPLAYED_CALLS:]
    if not is_always((), wrong=False):
        return False
    if is_always([call], wrong=True):
        return True
    return bool(calls_before) and is_always(calls_before, wrong=True)


def require_deterministic(
    evaluation: Evaluation, program: RemoteProgram, *, max_seconds: float = math.inf
) -> None:
    """Run the reference again on every case and require the same results.

    Chance in a reference would make verdicts depend on luck.  The cases are taken in reverse order,
    to catch a program that counts its calls as well.

    Args:
        evaluation: Has the results to compare with.
        program: The reference itself, or the same program in another process.
        max_seconds: No further case is tried after this time.

    Raises:
        BankProgramError: The reference fails, or a result differs by more than rounding.
    """
    start = time.monotonic()
    fresh = evaluation.with_subject(replace(program))  # has no results of this program yet
    for run in evaluation.question.runs:
        cases = {
            case.name: case
            for check in reversed(evaluation.checks)
            if check.run == run
            for case in reversed(evaluation.cases_of(check))
        }.values()
        fresh.prefetch([fresh.subject], run, cases)
        for case in cases:
            if time.monotonic() - start > max_seconds:
                return
            first = evaluation.reference_outcome(run, case)
            with blame_bank(f"the reference fails on case {case.name} again"):
                second = fresh.subject_outcome(run, case)
            for name in evaluation.wanted_results[run]:
                if not same_value(first.values[name], second.values.get(name), case.dtype):
                    raise _chance_error(evaluation, run, case, name)


def _chance_error(
    evaluation: Evaluation, run: str, case: CaseRecipe, result: str
) -> BankProgramError:
    has_driver = any(step.owner in {"driver", "judge"} for step in evaluation.steps(run))
    culprit = "the reference, or the driver," if has_driver else "the reference"
    return BankProgramError(
        f"{culprit} is not deterministic: computed twice from the same inputs, {result} "
        f"of case {case.name} is not the same; take the chance out of it"
    )


def _same_outcome(a: Outcome | None, b: Outcome | None, names: Sequence[str]) -> bool:
    """Return True if these results are the same to the last bit in two runs, or both raised."""
    if a is None or b is None:
        return a is b
    return all(same_value(a.values.get(n), b.values.get(n), exact=True) for n in names)
