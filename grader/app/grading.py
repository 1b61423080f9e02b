"""Grade a submission and record it: resolve, read, begin, judge, record."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader import bank
from grader.app import files, interviews
from grader.app.context import Context, need_torch, seed_of, torch_installed
from grader.app.drills import write_question
from grader.app.resolve import Choice, enclosing, resolve
from grader.model.errors import DrillError, UsageError
from grader.model.question import Question
from grader.records import events
from grader.records.progress import NO_TRY, UNCHANGED, Progress

if TYPE_CHECKING:
    from grader.model.report import Report
    from grader.sandbox.spawn import Workers


class Graded(NamedTuple):
    """What a grade found, and what the records know about it."""

    report: Report
    choice: Choice
    path: Path  # of the file that was graded
    submission: bytes  # what was in it
    again: str  # what follows `drill grade` to grade this file again
    before: Progress  # with the question, until this grade
    tries: int  # at the question with this one; 0: it does not count as one
    hints_left: bool
    known: int  # how many parts are asked of who tries: no command knows cases of later ones
    unchanged_since: int = 0  # the part that this code passed, if it has not changed since
    next_part: int | None = None  # number of the part that is asked from now on, if it is a new one
    clock: str = ""  # what is left of the interview that is open
    interviewed: bool = False  # whether one is over, and was not looked back on
    interview: str = ""  # the command that continues it


class SealedError(UsageError):
    """Not a fault: a version was recorded, and a blind interview says no more until its end."""


def grade(
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
    found: tuple[Choice, Path, str] | None = None,
    judge: Callable[..., Report] | None = None,
) -> Graded:
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
        judge: What grades it: `grade` of an open session of its question, if there is one.
    """
    if device != "auto":
        from grader.sandbox import config

        config.use(device)
    with ExitStack() as stack:
        started: list[Workers] = []

        def prepare(where: Path, question_id: str) -> None:
            from grader.sandbox.spawn import Workers

            try:
                head = bank.header([where], question_id)
            except DrillError:
                return  # loading the question will say so
            doing("loading torch" if head.torch else "loading numpy")
            if not head.torch or torch_installed():
                started.append(stack.enter_context(Workers(torch=head.torch)))

        choice, path, again = found or meant(ctx, target, file, prepare, seed)
        question = choice.question
        every = len(choice.question.spec.parts)
        seed = seed_of(question, seed)
        wanted = _parts(question, parts)
        again += "" if parts is None else f" --parts {shlex.quote(parts)}"
        need_torch(question)
        own = choice.workspace is not None and path == choice.workspace.submission
        if own and not os.path.lexists(path):
            raise UsageError(
                f"{path}: there is no such file any more",
                hint=f"Next: drill reset{choice.argument}",
            )
        submission = files.read_submission(path)
        if path.suffix == ".ipynb":
            from grader.classroom.notebook import code_of

            submission = code_of(submission)

        from grader import forms, session  # reads specs, as loading the question did
        from grader.forms.numbers import as_read
        from grader.session.submission import program_of

        yours = ctx.progress(question)
        why_not = _why_not_counted(choice, path, file, yours.tries)
        is_own = why_not is None
        once = forms.of(question.spec).one_try and not yours.tries
        if once and why_not is not None and not yours.given_up:
            raise UsageError(
                f"{path.name}: expected your own first prediction of {question.id}, found a file "
                "that would not count, and its grade shows what is right",
                hint=f"Next: drill start {choice.called}{choice.option} to predict, or "
                f"drill solution {choice.called}{choice.option} --give-up to grade other files",
            )
        readable = isinstance(program_of(submission, question, path.name), bytes)
        shown = as_read(submission, question) if once and readable else []
        if shown and not agreed("".join(f"{line}\n" for line in shown).encode()):
            text = "the first grade of a prediction is the one that counts, and shows what is right"
            said = "; ".join(line.strip() for line in shown if line.partition("#")[0].strip())
            raise UsageError(f"{text}; read: {said}", hint=f"Next: drill grade{again} --yes")
        event = ctx.event("begun" if is_own else "review", question, seed=seed, path=str(path))
        latest = ctx.attempts(question, most=20, digest=question.digest)
        # A verdict of its checks on the question as it is: its reference was run twice then.
        proved = any(attempt.verdict in {"pass", "fail"} for attempt in latest)
        begun = ctx.write(lambda db: events.begin(db, event, submission), "this grade")
        if begun is not None and why_not:
            ctx.warn(*why_not)
        # One part is asked after another of those who try, and all of everybody else.
        before = yours.asked(every) if begun is not None and is_own else every
        judge = judge or partial(
            session.grade, question, proved=proved, parts=wanted,
            workers=started[0] if started else None,
        )  # fmt: skip
        passed = b""
        if is_own and (passed_by := yours.passed_by):
            passed = ctx.read(lambda db: events.submission(db, passed_by), b"")
        report = judge(
            submission, seed=seed, filename=path.name, explain_starter=explain, passed=passed,
            progress=lambda done, checks: doing(f"grading, {done} of {checks} checks"),
        )  # fmt: skip
    unread = report.raised is not None and report.raised.is_of_text
    since = 0
    if passed and report.unchanged and not question.is_starter(submission):
        since = yours.parts if report.parts_passed == yours.parts else 0
        report = replace(report, unchanged=False)
    no_try = unread or report.unchanged or not submission.strip()
    if begun is not None:
        from grader.reports.json import dumps

        verdicts = NO_TRY if no_try else " ".join(part.verdict for part in report.parts)
        recorded = report
        if since:
            verdicts = UNCHANGED
            recorded = replace(report, misconceptions=(), explanations=())
        ctx.add(ctx.event(
            "graded", question, attempt=begun, report=dumps(recorded), parts=verdicts,
            verdict=report.verdict, isolation=report.isolation, seconds=report.seconds,
        ))  # fmt: skip
    held = interviews.asking(ctx, question, path)
    left = "" if held is None else held.left(ctx.now())
    if held and held.blind:
        from grader.reports.words import about_the_file

        loads = "It can be read." if forms.of(question.spec).is_text else "It loads."
        raise SealedError(
            f"{path.name} is received. {about_the_file(report) or loads}",
            "You will see the verdict in the debrief.",
        )
    if left:  # what is believed is for the debrief
        report = replace(report, misconceptions=(), explanations=())
    asked = max(before, min(report.parts_passed + 1, every))
    if asked > before:
        write_question(ctx, path.parent, question, asked)
    hints = [len(part.hints) for part in question.spec.parts[:asked]]
    now = ctx.progress(question)
    return Graded(
        report,
        choice,
        path,
        submission,
        again,
        yours,
        # A version is a try once, however often it is graded.
        tries=now.tries if now.tries > yours.tries else 0,
        hints_left=max(yours.hints, sum(hints[:-1])) < sum(hints),
        known=now.asked(every),
        unchanged_since=since,
        next_part=asked if asked > before and report.parts_passed < asked else None,
        clock=left,
        interviewed=not interviews.left(ctx) and interviews.latest(ctx) is not None,
        interview=ctx.interview(),
    )


def meant(
    ctx: Context,
    target: str | None,
    file: Path | None = None,
    soon: Callable[[Path, str], None] = lambda *_: None,
    seed: int | None = None,
) -> tuple[Choice, Path, str]:
    """Return the drill, the file to grade, and what follows `drill grade` to do it again."""
    here = ctx.here()
    if file:
        path = here / file.expanduser()
        around = enclosing(path.parent)
        if around and around.question == (target or around.question).rpartition("/")[2]:
            seed = around.seed  # which its QUESTION.md shows
        folder = around.folder if around and not target else None
        choice = resolve(ctx, target, folder=folder, soon=soon, seed=seed)
        named = f" {target}" if target else ""
        shown = f" --seed {seed}" * (bool(choice.question.spec.given) and seed is not None)
        return choice, path, f"{named} --file {shlex.quote(str(file))}{shown}{ctx.option}"
    if target is not None and _is_path(ctx, target):
        path = here / Path(target).expanduser()
        if not os.path.lexists(path):
            raise UsageError(f"{target}: there is no such file or folder")
        is_folder = path.is_dir() and not path.is_symlink()
        choice = resolve(ctx, None, folder=path if is_folder else path.parent, soon=soon)
        path = choice.need_workspace().submission if is_folder else path
        return choice, path, f" {shlex.quote(target)}{ctx.option}"
    choice = resolve(ctx, target, soon=soon)
    return choice, choice.need_workspace().submission, choice.argument


def _is_path(ctx: Context, target: str) -> bool:
    """Tell a path from ID and BANK/ID, which no folder of that name takes the place of."""
    if target.startswith((".", "/", "~")) or target.endswith(("/", ".py", ".ipynb", ".txt")):
        return True
    if not os.path.lexists(ctx.here() / target):
        return False
    try:
        bank.find(ctx.banks(), target)
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
    choice: Choice, path: Path, file: Path | None, tries: int
) -> tuple[str, ...] | None:
    """Return None where a grade counts as an attempt, else what is to be said of that, if anything.

    It counts where the file is the submission of a folder that this person has started.
    """
    from grader import forms

    mine = choice.workspace.submission if choice.workspace else None
    if file or mine is None or os.path.realpath(path) != os.path.realpath(mine):
        return ()
    if not choice.started:
        return (
            "You did not start this folder; the grade is not counted as an attempt.",
            f"If it is yours, drill start {choice.called}{choice.option} in it makes it count.",
        )
    if forms.of(choice.question.spec).one_try and tries:
        return (f"Only your first prediction is scored; this grade of {path.name} does not count.",)
    return None
