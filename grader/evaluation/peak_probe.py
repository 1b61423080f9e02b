"""The most that a process holds while one step goes on, by the system's account.

A step could allocate past tracemalloc: from C's heap, by a library of its own, or by putting
another function in tracemalloc's place.  The kernel keeps the most that a process has held (VmHWM
in /proc/PID/status, forgotten on request, proc(5)).  It is read around the step, on inputs that are
new every time; what the reference's process takes for the same is taken off, so that what remains
is the program's.  Memory set aside before the step does not show there, so what the process holds
already is held against the reference's as well.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from grader.cases.dataflow import free_names, producing, results
from grader.cases.recipe import CaseRecipe
from grader.evaluation.evaluation import Evaluation, blame_bank
from grader.evaluation.exhibit import bars
from grader.evaluation.held import Held, many_inputs, unlike
from grader.evaluation.rss_probe import STANDING
from grader.evaluation.tally import Finding
from grader.model.numerals import bytes_text
from grader.sandbox import probes
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import ProgramError
from grader.sandbox.sending import ManyInputs

SHOWN = 2  # runs of three whose results are looked at instead; nobody in the process knows which
READINGS = 3  # at most, of which the least counts: nothing else makes a process smaller
ROOM = 1 << 20  # bytes by which two readings may differ for no reason; measured: 0.07 MB


def hidden_peak(
    evaluation: Evaluation,
    run: str,
    case: CaseRecipe,
    of: str,
    *,
    counted: Callable[[], float],
    reference: float,
    budget: float,
) -> Finding | None:
    """A peak of the step that gives `of` that the system sees, and the count inside does not.

    Args:
        evaluation: with the submission.
        run: the run that the step belongs to.
        case: what it is tried on.
        of: a result of it.
        counted: gives the bytes by the count inside.
        reference: the same of the reference.
        budget: bytes allowed.
    """

    def reading(program: RemoteProgram, base: int | None) -> tuple[Held, tuple[int, int] | None]:
        plan = _prepared(evaluation, run, case, of)
        return plan, _read(program, plan, base)

    def of_reference() -> tuple[int, int] | None:
        return reading(evaluation.reference, evaluation.reference.worker.fresh)[1]

    rises, standings = [], []
    for _ in range(READINGS):
        plan, mine = reading(evaluation.submission, evaluation.submission.before)
        if mine is None:
            return None
        with blame_bank(f"the reference fails on case {case.name}"):
            theirs = evaluation.fact(("step peak", run, case.name, of), of_reference)
        if theirs is None:
            return None
        if (found := unlike(evaluation, plan)) is not None:
            return found
        rises.append(reference + mine[0] - theirs[0])
        standings.append(mine[1] - theirs[1])
        rise, standing = min(rises), min(standings)
        if rise <= budget + ROOM and rise + standing <= budget + STANDING:
            return None
    system = rise if rise > budget + ROOM else rise + standing
    figures = counted(), system, budget
    labels = ("by its own account", "by the system's", "allowed")
    return Finding(
        f"by its own account the step allocates {bytes_text(figures[0])} at once, by the system's "
        f"{bytes_text(system)}; {bytes_text(budget)} allowed (case {case.name})",
        exhibit=bars(bytes_text, *zip(labels, figures, strict=True)),
        figures=dict(zip(("counted", "system", "allowed"), figures, strict=True)),
    )


def _prepared(evaluation: Evaluation, run: str, case: CaseRecipe, of: str) -> Held:
    """The steps before the one in question are held with its inputs; that one goes on."""
    every = evaluation.steps(run)
    *first, step = producing(every, of)
    made = results(first)
    given = [*free_names(first), *(n for n in free_names([step]) if n not in made)]
    inputs = many_inputs(evaluation, case, run, dict.fromkeys(given), SHOWN + 1)
    return Held(
        run,
        case,
        tuple(first),
        (step,),
        tuple(free_names([step])),
        tuple(name for name in evaluation.wanted[run] if name in step.targets),
        inputs,
        inputs,
        ManyInputs({}, frozenset(), 0),
        random.SystemRandom().sample(range(inputs.count), SHOWN),
    )


def _read(program: RemoteProgram, plan: Held, base: int | None) -> tuple[int, int] | None:
    """By how much its process grows while the step goes on, and what it holds before, above a base.

    None where the system does not say.  The results of the chosen runs are noted in the plan.
    """
    pid = program.worker.pid
    plan.found = [None] * len(plan.chosen)
    found: tuple[int, int] | None = None
    try:
        program.hold(plan.first, plan.inputs, plan.keep)
        for number in range(plan.inputs.count):
            if number in plan.chosen:
                outcome = program.finish(number, plan.rest, {}, plan.want)
                plan.found[plan.chosen.index(number)] = outcome
                continue
            program.settle()
            before = probes.resident_bytes(pid)
            if before is None or base is None or not probes.forget_peak(pid):
                return None
            program.finish(number, plan.rest, {}, ())
            highest = probes.peak_bytes(pid)
            if highest is None:
                return None
            found = highest - before, before - base
    except ProgramError:
        return None  # the same inputs make it fail, and other checks say so
    finally:
        if program.worker.failure is None:
            program.drop()
    return found
