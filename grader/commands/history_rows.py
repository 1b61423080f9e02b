"""What was graded or kept, and how to bring it back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader import bank
from grader.commands import files
from grader.commands.context import Context
from grader.commands.workspaces import find_workspace
from grader.model.errors import DrillError, UsageError
from grader.model.report import NON_FAILING_VERDICTS, UNREADABLE_TYPE
from grader.records import events, progress
from grader.records.events import Attempt
from grader.records.progress import AttemptMark, QuestionProgress
from grader.reports.text_layout import escape_line

if TYPE_CHECKING:
    import sqlite3


class HistoryRow(NamedTuple):
    """An attempt, and what its report and the records say of it."""

    attempt: Attempt
    sitting: int = 1
    hints: int = 0  # shown in that sitting when it was made
    given_up: bool = False  # whether the solution had been shown in it before a pass
    tries: int = 0  # at the question with this one, as its page has it; 0: it does not count as one
    part: int = 0  # the one it came to, from 1; 0: nothing is known
    of: int = 0  # how many the question had
    on: bool = False  # whether it passed all that was asked then: what failed after was no news yet
    ideas: tuple[str, ...] = ()  # the misconception that its page named first, if it named any
    failed: str = ""  # the first check that did not pass
    case: str = ""  # the smallest on which it did not
    clause: str = ""  # the first of the contract that it is about
    failing: frozenset[tuple[str, str]] = frozenset()  # cases, each with a check that failed on it
    unchanged: bool = False  # whether it was the starter
    passed_before: bool = False  # whether it was the file that passed the part before, unchanged

    @property
    def idea_or_failure(self) -> str:
        """The ideas, or what failed first."""
        if self.on:
            return ""
        if self.passed_before:
            return "unchanged since the pass"
        return "starter, unchanged" if self.unchanged else ", ".join(self.ideas) or self.failed

    @property
    def verdict(self) -> str:
        """The verdict on what was asked then, in a word."""
        passed = self.on or self.attempt.state == "pass"
        return "pass" + " after giving up" * self.given_up if passed else self.attempt.state

    def is_same_result(self, before: HistoryRow) -> bool:
        """Whether nothing has changed since an earlier one but the time."""
        one, other = (
            (row.verdict, row.part, row.idea_or_failure, made.question, made.kind, row.hints)
            for row, made in ((self, self.attempt), (before, before.attempt))
        )
        return one == other


def list_history(
    ctx: Context, question_id: str | None = None, *, most: int | None = None, report: str = "report"
) -> tuple[tuple[HistoryRow, ...], int]:
    """Return what was graded or kept, the latest last; of more than `most`, how many are not there.

    Of its `report` a row knows all, or what `events.BRIEF` has of it.
    """
    name = question_id
    which = dict[str, str]()
    if question_id is not None and "/" in question_id:
        where, name = bank.find_question(ctx.banks(), question_id)
        which = {"bank": str(where)}

    def latest(db: sqlite3.Connection) -> tuple[tuple[Attempt, ...], int, progress.ProgressEvents]:
        found = events.load_attempts(db, most=most or -1, report=report, question=name, **which)
        known = progress.progress_events(db, name)
        return found, events.count_attempts(db, question=name, **which) - len(found), known

    # Here the records are the result, so that a fault is an error.
    found, earlier, known = ctx.store.read(latest, empty=((), 0, {}))
    if question_id is not None and not found:  # mistyped, or never graded
        bank.find_question(ctx.banks(), question_id)
    marks = dict[int, AttemptMark]()
    last = dict[str, AttemptMark]()
    for of, path in sorted({(one.question, one.bank) for one in found}):
        marks |= progress.progress_of(known, of, Path(path)).marks
    for one in found:  # what was kept, or not finished, has the mark of what came before
        marks[one.id] = marks.get(one.id) or last.get(one.question, AttemptMark())
        last[one.question] = marks[one.id]._replace(tries=0)
    return tuple(_row(one, marks[one.id]) for one in found), earlier


def checked_attempts(ctx: Context, question_id: str, yours: QuestionProgress) -> list[HistoryRow]:
    """Return the latest grades of the sitting at which checks were tried, the last one last."""
    try:
        rows = list_history(ctx, question_id, most=100)[0]
    except DrillError:  # the records cannot be read
        return []
    # The starter, or a file that has not changed, is no try, but its page has a case to look at.
    return [
        row
        for row in rows
        if row.attempt.id > yours.last_earlier_attempt
        and (row.attempt.is_try or row.unchanged or row.passed_before)
    ]


def _row(attempt: Attempt, mark: AttemptMark) -> HistoryRow:
    """Return what is known of an attempt."""
    import json  # which a list of questions does without

    passed = progress.parts_passed(attempt.parts)
    of = len((attempt.parts or "").split())
    on = attempt.kind == "grade" and passed > mark.parts
    report = json.loads(attempt.report or "{}")
    checks = report.get("checks", [])
    wrong = [c for c in checks if c["verdict"] not in NON_FAILING_VERDICTS and not c.get("stretch")]
    failed = [c["id"] for c in wrong]
    shown = [] if on else wrong[:1]
    if message := report.get("message"):  # it never got as far as a check
        raised = report.get("raised") or {"type": UNREADABLE_TYPE}
        is_syntax = attempt.parts == progress.NO_TRY_MARK and raised["type"] != UNREADABLE_TYPE
        failed = ["a syntax error" if is_syntax else escape_line(message)]
    unchanged = report.get("unchanged", False)
    ideas = [idea["id"] for idea in report.get("misconceptions") or []]
    return HistoryRow(
        attempt,
        mark.sitting,
        mark.hints,
        mark.given_up,
        mark.tries,
        part=passed if on else min(passed + 1, of),
        of=of,
        on=on,
        # No page names one of a part that was not asked, nor of the starter.
        ideas=tuple(ideas[:1]) if not (on or unchanged) else (),
        failed=next(iter(failed), ""),
        case=next((n for c in shown for n in c.get("failing") or ()), ""),
        clause=next((str(one["number"]) for c in shown for one in c.get("clauses") or ()), ""),
        # None fail in a try that went on to a new part: what fails there was not asked yet.
        failing=frozenset((n, c["id"]) for c in checks for n in c.get("failing") or () if not on),
        unchanged=unchanged,
        passed_before=attempt.parts == progress.UNCHANGED_MARK,
    )


def restore_version(
    ctx: Context, number: int, *, to: Path | None = None
) -> tuple[int, Path, Path | None]:
    """Bring a submission back: into a new file, or into its drill's folder.

    Return its size, where it is now, and the copy of what was there, if there was anything.
    """
    found = ctx.store.read(lambda db: events.find_attempt(db, number), empty=None)
    if found is None:
        text = f"there is no version {number}"
        raise UsageError(text, hint="drill history lists those there are")
    attempt, content = found
    if to:
        target = ctx.current_folder() / to.expanduser()
        if not files.create(target, content):
            raise UsageError(
                f"{target} is there already and is left as it is",
                hint="name a file that is not there yet",
            )
        return len(content), target, None
    drill = find_workspace(
        ctx,
        attempt.question,
        lambda b: progress.is_about_question(attempt.bank, b, attempt.question),
    )
    if drill is None:
        raise UsageError(
            f"version {attempt.id} is of {attempt.question} of {attempt.bank}, which has no known"
            " folder",
            hint=f"drill history restore {attempt.id} --to PATH brings it back into a new file;"
            f" drill start {attempt.question}{ctx.bank_option} makes a folder",
        )
    event = ctx.new_event("restored", attempt)
    target = drill.submission
    return len(content), target, files.replace_keeping_copy(ctx, target, content, "restore", event)
