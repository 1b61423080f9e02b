"""One witness from outside the process for the bytes that are counted inside it.

Counts made in a worker are the word of a process in which the submission's code runs too.  So a
check that passes by its count has the first steps run once more, untraced, on fresh inputs of its
`large` case, and the judge reads from /proc how much larger the process has become with what they
leave for the rest.  It is compared with the same of the reference's process, with room to spare:
what is below that room is the process's word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from grader.cases.recipe import CaseRecipe, free_names
from grader.evaluation.evaluation import Evaluation, blame_bank, entries
from grader.evaluation.exhibit import bars
from grader.evaluation.tally import Finding, tally
from grader.model.numerals import bytes_text
from grader.model.question import Step
from grader.model.report import CheckResult, Verdict
from grader.model.spec import Check
from grader.sandbox import probes
from grader.sandbox.messages import Inputs, ProgramError
from grader.sandbox.remote import RemoteProgram

# Bytes by which a process may exceed the reference's and the budget, by whether torch is used.
# Measured of right programs: 12 KB, with torch 30 KB.
ROOM = {False: 128 << 10, True: 1 << 20}
ENOUGH_SECONDS = 1.0  # of CPU time that the run on the large case may be expected to take
_DRAW = 1 << 11  # beyond the secret: nothing else draws there

Halves = tuple[Sequence[Step], Sequence[Step]]


def confirmed(
    evaluation: Evaluation,
    check: Check,
    counted: CheckResult,
    halves: Halves,
    budget: Callable[[CaseRecipe], float],
) -> CheckResult:
    """The result by the count inside, unless that is a pass and the process shows otherwise.

    `halves` are the steps of the run, until the process is looked at and from there; `budget` gives
    the bytes allowed on a case.
    """
    large, left_out = getattr(check, "large", ""), ""
    if counted.verdict is not Verdict.PASS:
        return counted
    if not large or not evaluation.witnessed or getattr(check, "device", "cpu") != "cpu":
        return replace(counted, figures={**counted.figures, "witnessed": 0.0})

    def look(case: CaseRecipe) -> Finding | None:
        nonlocal left_out
        left_out = _left_out(evaluation, check, case)
        return None if left_out else _look(evaluation, check, case, halves, budget(case))

    wider = check.model_copy(update={"cases": large})
    found = tally(evaluation, wider, look, reference_first=False)
    if found.verdict is not Verdict.PASS:
        return found
    message = counted.message
    if left_out:
        message += f"; not confirmed from outside the process: {left_out}"
    figures = {**counted.figures, "witnessed": float(not left_out)}
    return replace(counted, message=message, figures=figures)


def _left_out(evaluation: Evaluation, check: Check, large: CaseRecipe) -> str:
    """Why the process is not looked at; '' where it is."""
    if not probes.PROC:
        return "this system has no /proc"
    small = evaluation.cases_of(check)[-1]
    inputs = evaluation.inputs(small, check.run)
    try:
        spent = evaluation.submission.timed(evaluation.steps(check.run), inputs, ())[1]
    except ProgramError as error:
        try:
            evaluation.observed(check.run, small)
        except ProgramError:
            return f"the run fails on the case {small.name}"  # other checks say so
        raise error from None  # only here: it would not be looked at
    if spent * entries(large) / max(1, entries(small)) > ENOUGH_SECONDS * 1e9:
        return f"the case {large.name} would take more than {ENOUGH_SECONDS:g} second"
    return ""


def _look(
    evaluation: Evaluation, check: Check, case: CaseRecipe, halves: Halves, budget: float
) -> Finding | None:
    """What the system shows of a run that the count does not."""
    seen = None
    for draw in (_DRAW, _DRAW + 1):  # what a first run imports, or leaves in pieces, is not kept
        seen = _seen(evaluation, check.run, case, halves, budget, evaluation.secret + draw)
        if seen is None:
            break
    return seen


def _seen(
    evaluation: Evaluation,
    run: str,
    case: CaseRecipe,
    halves: Halves,
    budget: float,
    draw_index: int,
) -> Finding | None:
    """The same of one draw."""
    inputs, reference = evaluation.inputs(case, run, draw_index=draw_index), evaluation.reference
    held = _kept(evaluation.submission, halves, inputs)
    with blame_bank(f"the reference fails on case {case.name}"):
        key, how = ("kept", run, case.name), {"draw_index": draw_index}
        base = evaluation.remember(key, lambda: _kept(reference, halves, inputs), reference, **how)
    if held is None or base is None:
        return None
    more = held - max(0, base)
    if more <= budget + ROOM[evaluation.question.spec.needs_torch]:
        return None
    figures = {"system": float(held), "reference": float(base), "allowed": budget}
    labels = ("yours", "the reference", "allowed more")
    return Finding(
        f"by the system's account your process keeps {bytes_text(more)} more than the "
        f"reference's; {bytes_text(budget)} allowed (case {case.name})",
        exhibit=bars(bytes_text, *zip(labels, figures.values(), strict=True)),
        figures=figures,
    )


def _kept(program: RemoteProgram, halves: Halves, inputs: Inputs) -> int | None:
    """Bytes that a process has kept halfway, of what the second half reads and of anything else."""
    keep = tuple(free_names(halves[1]))
    given = {name: inputs[name] for name in free_names(halves[0]) if name in inputs}
    before = _held(program, ())
    program.pause(halves[0], given, keep)
    after = _held(program, keep)
    return None if before is None or after is None else after - before


def _held(program: RemoteProgram, keep: Sequence[str]) -> int | None:
    """Bytes of memory and files that a process holds once the last request is given back too."""
    program.pause((), {}, keep)
    return program.worker.occupied_bytes()
