"""One witness from outside the process for what is counted inside it: bytes kept, bytes at a peak.

Counts made in a worker are the word of a process in which the submission's code runs too.  So a
check that passes by its count runs once more, untraced, on fresh inputs of its `large` case, and
the judge reads from /proc how much larger the process has become between the first steps and the
rest, or how much it holds at most during the rest.  It is compared with the same of the reference's
process, with room to spare: what is below that room is the process's word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from grader.cases.dataflow import free_names, results
from grader.cases.recipe import CaseRecipe
from grader.evaluation.evaluation import Evaluation, blame_bank, entries
from grader.evaluation.exhibit import bars
from grader.evaluation.results import same_value
from grader.evaluation.tally import Finding, tally
from grader.model.numerals import bytes_text
from grader.model.question import Step
from grader.model.report import CheckResult, Verdict
from grader.model.spec import Check
from grader.sandbox import probes
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Outcome, ProgramError
from grader.sandbox.sending import Inputs, array_bytes

# Bytes by which a process may exceed the reference's and the budget, by whether torch is used.
# Measured of right programs: 40 KB of what is kept, and 1 MB at peaks.
ROOM = {False: 512 << 10, True: 1 << 20}
PEAK_ROOM = {False: 2 << 20, True: 16 << 20}
ENOUGH_SECONDS = 1.0  # of CPU time that the run on the large case may be expected to take
_DRAW = 1 << 11  # beyond the secret: nothing else draws there


@dataclass(frozen=True, slots=True)
class Halves:
    """A run in two halves, and which of them is looked at."""

    first: Sequence[Step]
    rest: Sequence[Step]
    at_peak: bool = False  # the most held during the rest, not what is held between

    @property
    def steps(self) -> tuple[Step, ...]:
        return (*self.first, *self.rest)

    @property
    def keep(self) -> list[str]:
        """What the rest reads of the first half, and all inputs of a peak's."""
        made, read = results(self.first), free_names(self.rest)
        # Torch finds its inputs again by what they are, not by their values.
        every = self.at_peak or any(step.backward for step in self.steps)
        return [name for name in read if every or name in made]


def confirmed(
    evaluation: Evaluation,
    check: Check,
    counted: CheckResult,
    run: Halves,
    budget: Callable[[CaseRecipe], float],
) -> CheckResult:
    """The result by the count inside, unless that is a pass and the process shows otherwise.

    Args:
        evaluation: with the submission.
        check: that was decided by the count.
        counted: its result.
        run: the steps, in two halves.
        budget: gives the bytes allowed on a case.
    """
    large, left_out = getattr(check, "large", ""), ""
    if counted.verdict is not Verdict.PASS:
        return counted
    if not large or getattr(check, "device", "cpu") != "cpu":
        return replace(counted, figures={**counted.figures, "witnessed": 0.0})

    def look(case: CaseRecipe) -> Finding | None:
        nonlocal left_out
        left_out = _left_out(evaluation, check, case)
        return None if left_out else _look(evaluation, check, case, run, budget(case))

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
    except ProgramError:
        return f"the run fails on the case {small.name}"  # other checks say so
    with blame_bank("the reference's worker fails"):
        spent -= evaluation.reference.timed((), inputs, ())[1]  # of the exchange alone
    if spent * entries(large) / max(1, entries(small)) > ENOUGH_SECONDS * 1e9:
        return f"the case {large.name} would take more than {ENOUGH_SECONDS:g} second"
    return ""


def _look(
    evaluation: Evaluation, check: Check, case: CaseRecipe, run: Halves, budget: float
) -> Finding | None:
    """What the system shows of a run that the count does not, or a result that is not right."""
    draw, want = evaluation.secret + _DRAW, evaluation.wanted[check.run]
    want = tuple(name for name in want if name in results(run.rest))
    inputs, other = (
        evaluation.inputs(case, check.run, draw_index=draw + number) for number in range(2)
    )
    found, held = _paused(evaluation.submission, run, inputs, other, want)
    with blame_bank(f"the reference fails on case {case.name}"):
        right, base = _paused(evaluation.reference, run, inputs, other, want)
    if wrong := _unlike(found, right, want, case):
        plain = evaluation.submission.run(run.steps, _part(inputs, run.steps), want)
        if not _unlike(found, plain, want, case):
            return None  # wrong however it is run: other checks say so
        return Finding(f"{wrong} is another when the run pauses halfway (case {case.name})")
    if held is None or base is None:
        return None
    room = PEAK_ROOM if run.at_peak else ROOM
    more = held - max(0, base)
    if more <= budget + room[evaluation.question.spec.needs_torch]:
        return None
    what = "holds at most" if run.at_peak else "keeps"
    figures = {"system": float(held), "reference": float(base), "allowed": budget}
    labels = ("yours", "the reference", "allowed more")
    return Finding(
        f"by the system's account your process {what} {bytes_text(more)} more than the "
        f"reference's; {bytes_text(budget)} allowed (case {case.name})",
        exhibit=bars(bytes_text, *zip(labels, figures.values(), strict=True)),
        figures=figures,
    )


def _paused(
    program: RemoteProgram, run: Halves, inputs: Inputs, other: Inputs, want: Sequence[str]
) -> tuple[Outcome, int | None]:
    """What a run comes to, and bytes: kept halfway, or the most held during the rest."""
    early = _part(inputs, run.first, run.keep)
    late = {n: one for n, one in _part(inputs, run.rest).items() if n not in run.keep}
    if not run.at_peak:  # what a first run imports, or leaves in pieces, is not what it keeps
        program.pause(run.first, _part(other, run.first, run.keep), ())
    before = _held(program)
    program.pause(run.first, early, run.keep)
    after = _held(program)
    pid = program.worker.pid
    if run.at_peak:
        before = probes.resident_bytes(pid) if probes.forget_peak(pid) else None
    outcome = program.resume(run.rest, late, want, room=array_bytes(inputs))
    if run.at_peak:
        after = probes.peak_bytes(pid)
    return outcome, None if before is None or after is None else after - before


def _held(program: RemoteProgram) -> int | None:
    """Bytes of memory and files that a process holds, once free memory is given back."""
    program.pause((), {}, ())
    return program.worker.occupied_bytes()


def _part(inputs: Inputs, steps: Sequence[Step], more: Sequence[str] = ()) -> Inputs:
    """The inputs that some steps read, and others by name."""
    return {name: inputs[name] for name in (*free_names(steps), *more) if name in inputs}


def _unlike(one: Outcome, other: Outcome, names: Sequence[str], case: CaseRecipe) -> str:
    """The first result in which two runs differ; '' where they do not."""
    mine, theirs = one.values, other.values
    unlike = (n for n in names if not same_value(mine.get(n), theirs.get(n), case.dtype))
    return next(unlike, "")
