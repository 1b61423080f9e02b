"""Grade a submission and record it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader import bank
from grader.app import files, requirements, workspace
from grader.app.context import Context
from grader.app.resolve import Choice, resolve
from grader.app.starting import write_question
from grader.bank import locate
from grader.model.errors import DrillError, UsageError
from grader.model.question import Question
from grader.records import events
from grader.records.events import NOT_PYTHON

if TYPE_CHECKING:
    from grader.model.report import Report
    from grader.session import Workers

MAX_SEED = 2**63 - 1  # the largest whole number that SQLite stores


@dataclass(frozen=True, slots=True)
class Graded:
    """What a grade found, and what the records know about it."""

    report: Report
    choice: Choice
    path: Path  # of the file that was graded
    again: str  # what follows `drill grade` to grade this file again
    tries: int  # of one's own with this one; 0: none, as a syntax error, or not on record
    hints_left: bool
    changed_since: int | None = None  # attempt with this seed at another version of the question
    asked_before: int = 1  # parts, when the grade began; all, where it is no try of one's own
    asked: int = 1  # parts, now

    @property
    def next_part(self) -> int | None:
        """The number of the part that is asked from now on, if the grade has reached a new one."""
        new = self.asked > self.asked_before and self.report.parts_passed < self.asked
        return self.asked if new else None


def grade(
    ctx: Context,
    target: str | None = None,
    *,
    file: Path | None = None,
    seed: int | None = None,
    parts: str | None = None,
    doing: Callable[[str], None] = lambda _: None,
) -> Graded:
    """Grade a submission and record it.

    Args:
        ctx: Where the person is.
        target: ID, BANK/ID, or a path: of a drill's folder, or of a file in one, to be graded for
            that drill; None: the drill of `ctx`.
        file: Any file; it is no try of one's own, whosever it is.
        seed: From which the inputs are drawn; a fresh one when None.
        parts: The numbers of the parts that count, "1,2"; all when None.
        doing: Called with what is going on: "loading torch", "grading, 7 of 19 checks".

    Raises:
        UsageError: It is not clear what is meant, or there is no such file.
        BankError: The question cannot be loaded.
    """
    if seed is not None and seed > MAX_SEED:
        raise UsageError(f"--seed: expected a whole number of at most {MAX_SEED:,}")
    with ExitStack() as stack:
        started: list[Workers] = []

        def start(where: Path, question_id: str) -> None:
            """Start the workers as soon as it is known which question is meant."""
            from grader.session import Workers

            try:
                head = locate.header([where], question_id)
            except DrillError:
                return  # loading the question will say so
            doing("loading torch" if head.torch else "loading numpy")
            if not head.torch or requirements.torch_installed():
                workers = Workers(torch=head.torch)
                started.append(stack.enter_context(workers))

        if file is not None:
            path = file.expanduser()
            beside = None if target else workspace.enclosing(ctx.here() / path.parent)
            choice = resolve(ctx, target, folder=beside.folder if beside else None, soon=start)
            named = f" {target}" if target else ""
            again = f"{named} --file {shlex.quote(str(file))}{ctx.option}"
        elif target is not None and _is_path(ctx, target):
            path = ctx.here() / Path(target).expanduser()
            if not os.path.lexists(path):
                raise UsageError(f"{target}: there is no such file or folder")
            folder = path if path.is_dir() and not path.is_symlink() else path.parent
            choice = resolve(ctx, None, folder=folder, soon=start)
            path = choice.need_workspace().submission if folder == path else path
            again = f" {shlex.quote(target)}{ctx.option}"
        else:
            choice = resolve(ctx, target, soon=start)
            path, again = choice.need_workspace().submission, choice.argument
        seed = int.from_bytes(os.urandom(4), "big") if seed is None else seed
        workers = started[0] if started else None
        again += "" if parts is None else f" --parts {shlex.quote(parts)}"
        count = _parts(choice.question, parts)
        review = file is not None
        return _grade(ctx, choice, path, again, seed, workers, count, doing, review=review)


def _is_path(ctx: Context, target: str) -> bool:
    """Tell a path from ID and BANK/ID, which no folder of that name takes the place of."""
    if target.startswith((".", "/", "~")) or target.endswith(("/", ".py")):
        return True
    if not os.path.lexists(ctx.here() / target):
        return False
    try:
        bank.find(ctx.banks(), target)
    except UsageError:
        return True
    return False


def _parts(question: Question, wanted: str | None) -> tuple[int, ...] | None:
    """Return the parts that `--parts` names, "1,2"; None where it is not given.

    Raises:
        UsageError: There is no such part.
    """
    if wanted is None:
        return None
    last = len(question.spec.parts)
    names = question.spec.part_numbers
    found = [names.get(word.strip(), 0) for word in wanted.split(",")]
    if not all(found):
        expected = f"expected numbers from 1 to {last}" if last > 1 else "expected 1, its only part"
        raise UsageError(f"--parts: {expected}, separated by commas, found {wanted!r}")
    return tuple(sorted(set(found)))


def _grade(
    ctx: Context,
    choice: Choice,
    path: Path,
    again: str,
    seed: int,
    workers: Workers | None,
    parts: tuple[int, ...] | None,
    doing: Callable[[str], None],
    *,
    review: bool,
) -> Graded:
    from grader.forms import registry as forms  # reads specs, as the grade will
    from grader.session import grade as judge

    question = choice.question
    requirements.need_torch(question)
    path = ctx.here() / path
    submission = files.read_submission(path)
    mine = choice.workspace.submission if choice.workspace else None
    same = mine is not None and os.path.realpath(path) == os.path.realpath(mine)
    # A folder that is not on record may be anybody's: what passes in it is no pass of this person.
    once = forms.of(question.spec).one_try and ctx.progress(question).tries > 0
    own = same and choice.started and not (review or once)
    event = ctx.event("begun" if own else "review", question)
    event = replace(event, seed=seed, path=str(path))
    earlier, latest = ctx.read(
        lambda db: (
            events.attempts(db, most=1, question=question.id, bank=event.bank, seed=seed),
            events.attempts(db, most=20, question=question.id, bank=event.bank),
        ),
        ((), ()),
    )
    changed = [one.id for one in earlier if one.digest not in {"", question.digest}]
    # A verdict of its checks on the question as it is: its reference was run twice then, or before.
    proved = any(a.digest == question.digest and a.verdict in {"pass", "fail"} for a in latest)
    begun = ctx.write(lambda db: events.begin(db, event, submission), "this grade")
    if once and same and choice.started and not review:
        ctx.warn(f"Only your first prediction is scored; this grade of {path.name} does not count.")
    if same and not (choice.started or review) and begun is not None:
        ctx.warn(
            "You did not start this folder; the grade is not counted as an attempt.",
            f"If it is yours, drill start {choice.called}{choice.option} in it makes it count.",
        )
    every, yours = len(question.spec.parts), ctx.progress(question)
    tried = begun is not None and own  # else nobody is asked one part after another
    before = yours.asked(every) if tried else every

    def graded(report: Report) -> Graded:
        asked = max(before, min(report.parts_passed + 1, every))
        hints = [len(part.hints) for part in question.spec.parts[:asked]]
        counts = report.raised is None or not report.raised.is_of_text
        return Graded(
            report,
            choice,
            path,
            again,
            tries=begun[1] if begun and own and counts else 0,
            hints_left=max(yours.hints, sum(hints[:-1])) < sum(hints),
            changed_since=next(iter(changed), None),
            asked_before=before,
            asked=asked,
        )

    report = judge(
        question, submission, seed=seed, filename=path.name, workers=workers, proved=proved,
        parts=parts, progress=lambda done, every: doing(f"grading, {done} of {every} checks"),
    )  # fmt: skip
    if begun is not None:
        from grader.reports.json import dumps

        facts = {name: getattr(report, name) for name in ("verdict", "isolation", "seconds")}
        event = ctx.event("graded", question)
        verdicts = " ".join(part.verdict for part in report.parts)
        if report.raised is not None and report.raised.is_of_text:
            verdicts = NOT_PYTHON
        event = replace(event, attempt=begun[0], report=dumps(report), parts=verdicts)
        ctx.add(replace(event, **facts))
    done = graded(report)
    if done.asked > before:
        write_question(ctx, path.parent, question, done.asked)
    return done
