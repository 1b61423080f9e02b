"""From a submission to its verdict: load it, and carry out the checks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from grader import forms
from grader.evaluation.evaluation import BankFault, Evaluation
from grader.evaluation.tally import Finding, Stopped, stopped
from grader.forms.base import Unreadable
from grader.kinds import registry
from grader.model.question import Question
from grader.model.report import (
    FINE,
    UNREADABLE,
    CheckResult,
    Clause,
    Frame,
    Raised,
    Report,
    Verdict,
)
from grader.model.spec import Check, Spec
from grader.sandbox.client import WorkerClient, WorkerError
from grader.sandbox.deadline import OutOfTime
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import ProgramError, plain
from grader.sandbox.worker.protocol import Loaded
from grader.session.order import CheckSchedule, blocked

MAX_SUBMISSION = 1 << 20  # bytes of source; the longest right solution known takes 5 KB


def unreadable(submission: bytes, question: Question) -> Finding | None:
    """What is wrong with a file's bytes, if it need not even be loaded."""
    if len(submission) > MAX_SUBMISSION:
        size = f"{len(submission):,} bytes, at most {MAX_SUBMISSION:,} are read"
        return Finding(f"the file has {size}", Verdict.LIMIT)
    if not forms.of(question.spec).is_text and not submission.strip(b"\xef\xbb\xbf \t\r\n\f"):
        sentence = f"the file is empty; expected {_listed(question.functions_of(1))}"
        return Finding(sentence, Verdict.ERROR)
    return None


def program_of(submission: bytes, question: Question, file: str) -> bytes | Finding:
    """The program that a file stands for; or what is wrong with it, which is no attempt."""
    form = forms.of(question.spec)
    if form.is_text and submission == question.starter:
        raised = Raised(UNREADABLE, "nothing is answered yet")
        sentence = f"{file}: nothing is answered yet: write your answers in it, and grade again"
        return Finding(sentence, Verdict.ERROR, raised=raised)
    try:
        return form.program(submission, question)
    except Unreadable as wrong:
        place = f"{file}:{wrong.line}: " if wrong.line else f"{file}: "
        frames = (Frame(wrong.line, "", wrong.text),) if wrong.line else ()
        column = wrong.column if wrong.line else None
        raised = Raised(UNREADABLE, wrong.sentence, frames, column=column)
        return Finding(f"{place}{wrong.sentence}", Verdict.ERROR, raised=raised)


def as_written(report: Report, submission: bytes) -> Report:
    """A report on answers: where code made of them raised, their own lines are shown."""
    lines = submission.decode("utf-8-sig").splitlines()

    def written(frame: Frame) -> Frame:
        own = lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else frame.source
        return Frame(frame.line, "", own)

    def of(check: CheckResult) -> CheckResult:
        if check.raised is None:
            return check
        frames = tuple(dict.fromkeys(map(written, check.raised.frames)))  # a line, once
        return replace(check, raised=replace(check.raised, frames=frames))

    return replace(report, checks=tuple(map(of, report.checks)))


def load_submission(
    program: RemoteProgram,
    question: Question,
    required: Collection[str],
    restore: Callable[[], None] = lambda: None,
    *,
    functions: Collection[str] = (),
) -> Finding | None:
    """Execute the file; None when it can be graded, else what is wrong.

    Of the functions that the question calls, and of further `functions`, it need only define those
    `required`.  `restore` is called where the driver could not be loaded with it: it loads the
    reference.

    Raises:
        BankFault: neither could it be with the reference.
    """
    try:
        loaded = program.load((*question.functions, *functions))
    except WorkerError as failure:
        return stopped(f"your file {failure} while it was being loaded", failure)
    except ProgramError as error:
        if error.of_support:
            restore()
        return _unloadable(error, question)
    return lacks(loaded, required, question)


def lacks(loaded: Loaded | None, required: Collection[str], question: Question) -> Finding | None:
    """Which of some functions a file does not define, if any."""
    if loaded is None:
        return None
    if missing := [name for name in loaded.missing if name in required]:
        from grader.model.errors import closest

        if (form := forms.of(question.spec)).is_text:
            open_ = [one for name in missing for one in form.asked_by(name, question)]
            have = "has" if len(open_) == 1 else "have"
            return Finding(f"{_listed(open_)} {have} no answer yet", Verdict.FAIL)
        listed = _listed(loaded.defined) if loaded.defined else "no functions"
        text = f"expected {_listed(missing)}, found {listed}"
        spare = [name for name in loaded.defined if name not in question.functions]
        near = ((closest(name, spare), name) for name in missing)
        text += next((f"; is {found} meant to be {name}?" for found, name in near if found), "")
        return Finding(text, Verdict.ERROR)
    for name, kind in loaded.uncallable:
        if name in required:
            article = "an" if kind[:1] in "aeio" else "a"
            text = f"expected a function called {name}, found {article} {kind}"
            return Finding(text, Verdict.ERROR)
    return None


def _unloadable(error: ProgramError, question: Question) -> Finding:
    raised = error.raised
    if raised is None:
        return Finding(error.message, Verdict.ERROR)
    if raised.is_of_text:
        if "codec can't decode" in raised.message or "Non-UTF-8" in raised.message:
            return Finding(f"the file is not UTF-8 text: {raised.message}", Verdict.ERROR)
        line = f" at line {raised.frames[0].line}" if raised.frames else ""
        sentence = f"the file is not valid Python{line}: {raised.message}"
        return Finding(sentence, Verdict.ERROR, raised=raised)
    if error.out_of_memory:
        sentence = "loading the file took more memory than is allowed"
        return Finding(sentence, Verdict.LIMIT, raised=raised)
    what = f"loading the file raised {raised.type}"
    said = plain(raised.message)  # the rest is shown with the line
    what += f": {said}" if said.strip() else ""
    if raised.type == "ModuleNotFoundError":
        allowed = ", ".join(question.spec.uses)
        what += f"; this question allows {allowed} and the standard library"
    return Finding(what, Verdict.ERROR, raised=raised)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def carry_out(
    evaluation: Evaluation,
    failing: Callable[[], None] = lambda: None,
    counting: Collection[int] | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> tuple[CheckResult, ...]:
    """Carry out the checks, but not those whose needs did not pass or whose process is gone.

    A part is asked once those before it that count pass.

    Args:
        evaluation: with the submission.
        failing: called whenever a check is not passed, before the next one is carried out.
        counting: the numbers of the parts that decide; all, if not given.
        progress: called before each check that is tried, with its number and how many there are.

    Returns:
        A result for every check, in the order of the question.

    Raises:
        BankFault: the reference or the spec fails, or takes too long.
    """
    question = evaluation.question
    counting = range(1, len(question.spec.parts) + 1) if counting is None else counting
    schedule = CheckSchedule(question.spec, counting)
    gone: str | None = None
    lacked: dict[str, str] = {}  # by sentence on a function that is not there, the check with it
    for part, check in schedule.order:
        result = schedule.skipped(part, check)
        evaluation.parts_asked = schedule.asked
        if gone is not None and (result is None or result.message == f"needs {gone}"):
            result = blocked(part, check, gone, f"the process was stopped in {gone}")
        called = question.functions_of_run(check.run)
        if result is None and (lacking := lacks(evaluation.submission.loaded, called, question)):
            first = lacked.setdefault(lacking.sentence, check.id)
            result = blocked(part, check, first, f"needs {first}")
            if first == check.id:
                result = _stopping(check, lacking.verdict, lacking.sentence)
        if result is None:
            progress(len(schedule.done) + 1, len(question.spec.checks))
            try:
                result = registry.get(check.kind).carry_out(evaluation, check)
            except Stopped as stop:
                result, gone = stop.result, check.id
            except OutOfTime:
                done = schedule.done.values()
                decided = any(c.verdict not in FINE and not c.stretch for c in done)
                late = out_of_time(evaluation.submission.worker, decided=decided)
                result, gone = _stopping(check, Verdict.LIMIT, late), check.id
        worked = any(c.verdict is Verdict.PASS for c in schedule.done.values())
        clauses = broken(question.spec, check, result, worked=worked)
        estimate = rests_on_estimate(question.spec, check)
        schedule.done[check.id] = replace(result, part=part, clauses=clauses, estimate=estimate)
        if result.verdict not in FINE:
            failing()
    return tuple(schedule.done[check.id] for check in question.spec.checks)


def rests_on_estimate(spec: Spec, check: Check) -> bool:
    """Whether a check, or one that it needs, is of an estimate."""
    needed = (one for one in spec.checks if one.id in check.needed)
    hides = registry.get(check.kind).hides_expected and not forms.of(spec).shows_expected
    return hides or any(rests_on_estimate(spec, one) for one in needed)


def broken(spec: Spec, check: Check, result: CheckResult, *, worked: bool) -> tuple[Clause, ...]:
    """The clauses that a result breaks.

    An exception says so only of code that works otherwise: a misspelled name breaks no clause in
    particular, an empty batch that raises does.
    """
    if result.verdict is not Verdict.FAIL and not (result.raised is not None and worked):
        return ()
    contract = spec.contract
    return tuple(Clause(n, " ".join(contract[n - 1].split())) for n in check.enforced)


def _stopping(check: Check, verdict: Verdict, message: str) -> CheckResult:
    return CheckResult(check.id, check.kind, verdict, message, stretch=check.stretch)


def out_of_time(worker: WorkerClient, *, decided: bool = False) -> str:
    """The sentence on a submission that did not finish by the grade's deadline.

    Args:
        worker: the submission's.
        decided: whether the grade is already no pass: nobody's slowness takes that back.

    Raises:
        BankFault: it is not, and the submission took less than half of the time.
    """
    assert worker.deadline is not None
    seconds = worker.deadline.seconds
    allowed = f"a whole grade may take {seconds:g} seconds"
    if worker.waited < seconds / 2:
        if decided:
            return f"the deadline came first: {allowed}"
        raise BankFault(
            f"a grade may take {seconds:g} seconds (deadline), and the submission took "
            f"{worker.waited:.3g} of them: the reference and the checks are too slow"
        )
    at = f", stopped in {worker.stopped_at}" if worker.stopped_at else ""
    return f"your code was still running at the deadline{at}: {allowed}"
