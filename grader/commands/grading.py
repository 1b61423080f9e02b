"""Grade a submission and record it: resolve, read, begin, judge, record."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader import bank
from grader.commands import files, interviews
from grader.commands.context import Context, choose_seed, require_torch, torch_installed
from grader.commands.start import write_question
from grader.commands.workspaces import ResolvedDrill, enclosing_workspace, resolve_drill
from grader.model.errors import DrillError, UsageError
from grader.model.question import Question
from grader.records import events
from grader.records.progress import NO_TRY_MARK, UNCHANGED_MARK, QuestionProgress

if TYPE_CHECKING:
    from grader.explain.session import GradingSession
    from grader.model.report import Report
    from grader.sandbox.worker_pool import WorkerPool


class GradeResult(NamedTuple):
    """What a grade found, and what the records know about it."""

    report: Report
    resolved_drill: ResolvedDrill
    path: Path  # of the file that was graded
    submission: bytes  # what was in it
    repeat_arguments: str  # what follows `drill grade` to grade this file again
    progress_before: QuestionProgress  # with the question, until this grade
    tries: int  # at the question with this one; 0: it does not count as one
    hints_left: bool
    parts_asked_now: (
        int  # how many parts are asked of who tries: no command knows cases of later ones
    )
    unchanged_since: int = 0  # the part that this code passed, if it has not changed since
    next_part: int | None = None  # number of the part that is asked from now on, if it is a new one
    time_text: str = ""  # what is left of the interview that is open
    is_after_interview: bool = False  # whether one is over, and was not looked back on
    interview: str = ""  # the command that continues it


class SealedError(UsageError):
    """Not a fault: a version was recorded, and a blind interview says no more until its end."""


def grade_file(
    ctx: Context,
    target: str | None = None,
    *,
    file: Path | None = None,
    seed: int | None = None,
    parts: str | None = None,
    device: str = "auto",
    explain: bool = True,
    doing: Callable[[str], None] = lambda _: None,
    agreed: Callable[[bytes], bool] = lambda _: True,
    found: tuple[ResolvedDrill, Path, str] | None = None,
    session: GradingSession | None = None,
    on_verdict: Callable[[Report], None] | None = None,
) -> GradeResult:
    """Grade a submission and record it.

    Args:
        ctx: Where the person is.
        target: ID, BANK/ID, or a path: of a drill's folder, or of a file in one, to be graded for
            that drill; None: the drill of `ctx`.
        file: Any file; it is not counted as an attempt. UsageError for a prediction before the
            person's own first try, unless they gave up: its grade shows what is right.
        seed: From which the inputs are drawn, below 2**63, and the numbers of a question where a
            `file` lies in no folder of it; a fresh one when None.
        parts: The numbers of the parts that count, "1,2"; all when None.
        device: Where what is asked of a GPU is measured; see `sandbox.config.use`.
        explain: Look for the ideas of an untouched starter as well, of which a page shows none.
        doing: Called with what is going on: "loading torch", "grading, 7 of 19 checks".
        agreed: Asked before the only grade of a prediction that counts, and before one of another
            file shows what is right, with what was read; UsageError where it says no.
        found: What `meant` returned for these arguments, where that is known.
        session: An open session of the question, if there is one.
        on_verdict: Called with a report as soon as there is a verdict.
    """
    if device != "auto":
        from grader.sandbox import config

        config.choose_device(device)
    with ExitStack() as stack:
        started: list[WorkerPool] = []

        def prepare(where: Path, question_id: str) -> None:
            from grader.sandbox.worker_pool import WorkerPool

            try:
                head = bank.header([where], question_id)
            except DrillError:
                return  # loading the question will say so
            doing("loading torch" if head.torch else "loading numpy")
            if not head.torch or torch_installed():
                started.append(stack.enter_context(WorkerPool(torch=head.torch)))

        choice, path, again = found or resolve_target(ctx, target, file, prepare, seed)
        question = choice.question
        every = len(choice.question.spec.parts)
        seed = choose_seed(question, seed)
        wanted = _parts(question, parts)
        again += "" if parts is None else f" --parts {shlex.quote(parts)}"
        require_torch(question)
        own = choice.workspace is not None and path == choice.workspace.submission
        if own and not os.path.lexists(path):
            raise UsageError(
                f"{path}: there is no such file any more",
                hint=f"Next: drill reset{choice.drill_argument}",
            )
        submission = files.read_submission(path)
        if path.suffix == ".ipynb":
            from grader.classroom.notebook import notebook_code

            submission = notebook_code(submission)

        from grader import forms
        from grader.explain.session import GradingSession
        from grader.forms.number_forms import prediction_as_read
        from grader.grading.session import GradeOptions
        from grader.grading.submission import submission_program

        yours = ctx.progress(question)
        why_not = _why_not_counted(choice, path, file, yours.tries)
        is_own = why_not is None
        once = forms.form_of(question.spec).allows_one_try and not yours.tries
        if once and why_not is not None and not yours.given_up:
            raise UsageError(
                f"{path.name}: expected your own first prediction of {question.id}, found a file "
                "that would not count, and its grade shows what is right",
                hint=f"Next: drill start {choice.typed_name}{choice.bank_option} to predict, or "
                f"drill solution {choice.typed_name}{choice.bank_option} --give-up to grade other files",
            )
        readable = isinstance(submission_program(submission, question, path.name), bytes)
        shown = prediction_as_read(submission, question) if once and readable else []
        if shown and not agreed("".join(f"{line}\n" for line in shown).encode()):
            text = "the first grade of a prediction is the one that counts, and shows what is right"
            said = "; ".join(line.strip() for line in shown if line.partition("#")[0].strip())
            raise UsageError(f"{text}; read: {said}", hint=f"Next: drill grade{again} --yes")
        event = ctx.new_event("begun" if is_own else "review", question, seed=seed, path=str(path))
        latest = ctx.attempts(question, most=20, digest=question.digest)
        # A verdict of its checks on the question as it is: its reference was run twice then.
        proved = any(attempt.verdict in {"pass", "fail"} for attempt in latest)
        begun = ctx.write(lambda db: events.begin_attempt(db, event, submission), "this grade")
        if begun is not None and why_not:
            ctx.warn(*why_not)
        # One part is asked after another of those who try, and all of everybody else.
        before = yours.count_parts_asked(every) if begun is not None and is_own else every
        passed = b""
        if is_own and (passed_by := yours.passed_by):
            passed = ctx.read(lambda db: events.stored_submission(db, passed_by), b"")
        if session is None:
            workers = started[0] if started else None
            session = stack.enter_context(
                GradingSession(question, workers=workers, proved=proved, parts=wanted)
            )
        report = session.grade(
            submission,
            seed=seed,
            filename=path.name,
            options=GradeOptions(
                progress=lambda done, checks: doing(f"grading, {done} of {checks} checks"),
                on_verdict=on_verdict,
                explain_starter=explain,
                passed_version=passed,
            ),
        )
    unread = report.raised is not None and report.raised.is_unparsable_file
    since = 0
    if passed and report.unchanged and not question.is_starter(submission):
        since = yours.parts if report.parts_passed == yours.parts else 0
        report = replace(report, unchanged=False)
    no_try = unread or report.unchanged or not submission.strip()
    if begun is not None:
        from grader.reports.json import dumps

        verdicts = NO_TRY_MARK if no_try else " ".join(part.verdict for part in report.parts)
        recorded = report
        if since:
            verdicts = UNCHANGED_MARK
            recorded = replace(report, misconceptions=(), explanations=())
        ctx.record_event(ctx.new_event(
            "graded", question, attempt=begun, report=dumps(recorded), parts=verdicts,
            verdict=report.verdict, isolation=report.isolation, seconds=report.seconds,
        ))  # fmt: skip
    held = interviews.open_interview_of(ctx, question, path)
    left = "" if held is None else held.time_left_text(ctx.now())
    if held and held.blind:
        from grader.reports.sentences import file_problem

        loads = "It can be read." if forms.form_of(question.spec).is_text else "It loads."
        raise SealedError(
            f"{path.name} is received. {file_problem(report) or loads}",
            "You will see the verdict in the debrief.",
        )
    if left:  # what is believed is for the debrief
        report = replace(report, misconceptions=(), explanations=())
    asked = max(before, min(report.parts_passed + 1, every))
    if asked > before:
        write_question(ctx, path.parent, question, asked)
    hints = [len(part.hints) for part in question.spec.parts[:asked]]
    now = ctx.progress(question)
    return GradeResult(
        report,
        choice,
        path,
        submission,
        again,
        yours,
        # A version is a try once, however often it is graded.
        tries=now.tries if now.tries > yours.tries else 0,
        hints_left=max(yours.highest_hint, sum(hints[:-1])) < sum(hints),
        parts_asked_now=now.count_parts_asked(every),
        unchanged_since=since,
        next_part=asked if asked > before and report.parts_passed < asked else None,
        time_text=left,
        is_after_interview=not interviews.time_left_text(ctx)
        and interviews.unclosed_interview(ctx) is not None,
        interview=ctx.interview(),
    )


def resolve_target(
    ctx: Context,
    target: str | None,
    file: Path | None = None,
    soon: Callable[[Path, str], None] = lambda *_: None,
    seed: int | None = None,
) -> tuple[ResolvedDrill, Path, str]:
    """Return the drill, the file to grade, and what follows `drill grade` to do it again."""
    here = ctx.current_folder()
    if file:
        path = here / file.expanduser()
        around = enclosing_workspace(path.parent)
        if around and around.question == (target or around.question).rpartition("/")[2]:
            seed = around.seed  # which its QUESTION.md shows
        folder = around.folder if around and not target else None
        choice = resolve_drill(ctx, target, folder=folder, soon=soon, seed=seed)
        named = f" {target}" if target else ""
        shown = f" --seed {seed}" * (bool(choice.question.spec.given) and seed is not None)
        return choice, path, f"{named} --file {shlex.quote(str(file))}{shown}{ctx.bank_option}"
    if target is not None and _is_path(ctx, target):
        path = here / Path(target).expanduser()
        if not os.path.lexists(path):
            raise UsageError(f"{target}: there is no such file or folder")
        is_folder = path.is_dir() and not path.is_symlink()
        choice = resolve_drill(ctx, None, folder=path if is_folder else path.parent, soon=soon)
        path = choice.require_workspace().submission if is_folder else path
        return choice, path, f" {shlex.quote(target)}{ctx.bank_option}"
    choice = resolve_drill(ctx, target, soon=soon)
    return choice, choice.require_workspace().submission, choice.drill_argument


def _is_path(ctx: Context, target: str) -> bool:
    """Tell a path from ID and BANK/ID, which no folder of that name takes the place of."""
    if target.startswith((".", "/", "~")) or target.endswith(("/", ".py", ".ipynb", ".txt")):
        return True
    if not os.path.lexists(ctx.current_folder() / target):
        return False
    try:
        bank.find_question(ctx.banks(), target)
    except UsageError:
        return True
    return False


def _parts(question: Question, wanted: str | None) -> tuple[int, ...] | None:
    """Return the parts that `--parts` names, "1,2"; None where it is not given."""
    if wanted is None:
        return None
    last = len(question.spec.parts)
    names = question.spec.part_numbers
    found = {names.get(word.strip(), 0) for word in wanted.split(",")}
    if 0 in found:
        expected = f"expected numbers from 1 to {last}" if last > 1 else "expected 1, its only part"
        raise UsageError(f"--parts: {expected}, separated by commas, found {wanted!r}")
    return tuple(sorted(found))


def _why_not_counted(
    choice: ResolvedDrill, path: Path, file: Path | None, tries: int
) -> tuple[str, ...] | None:
    """Return None where a grade counts as an attempt, else what is to be said of that, if anything.

    It counts where the file is the submission of a folder that this person has started.
    """
    from grader import forms

    mine = choice.workspace.submission if choice.workspace else None
    if file or mine is None or os.path.realpath(path) != os.path.realpath(mine):
        return ()
    if not choice.is_started:
        return (
            "You did not start this folder; the grade is not counted as an attempt.",
            f"If it is yours, drill start {choice.typed_name}{choice.bank_option} in it makes it count.",
        )
    if forms.form_of(choice.question.spec).allows_one_try and tries:
        return (f"Only your first prediction is scored; this grade of {path.name} does not count.",)
    return None
