"""`drill history`: list the versions that were graded or kept, and restore one.

A version, or attempt, is a file that was graded, or kept before another file replaced it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from grader import bank
from grader.commands import files, output
from grader.commands.context import Context
from grader.commands.options import JsonOption, argument, command_context, flag, ids, option
from grader.commands.workspaces import find_workspace
from grader.model.errors import DrillError, UsageError
from grader.model.number_format import format_count
from grader.model.report import NON_FAILING_VERDICTS, UNREADABLE_TYPE
from grader.records import events, progress
from grader.records.events import Attempt
from grader.records.progress import AttemptMark, QuestionProgress
from grader.reports.text_layout import escape_line

if TYPE_CHECKING:
    import sqlite3

MAX_ROWS = 100  # unless `--all` is given
MAX_CHECKED_ATTEMPTS = 100  # of a sitting
_IDEA_OR_FAILURE = "idea, or what failed first"
_HEAD = ("no.", "question", "when", "try", "part", "verdict", _IDEA_OR_FAILURE, "hints")


class HistoryRow(NamedTuple):
    """One row of `drill history`: an attempt, with facts from its report and the records."""

    attempt: Attempt
    mark: AttemptMark
    part: int = 0  # the first that failed; if `on` or none failed, the last that passed; 0: unknown
    of: int = 0  # parts of the question
    on: bool = False  # it passed all parts that were asked then; failures are in later parts
    ideas: tuple[str, ...] = ()  # the idea that its page named first, if it named any
    failed: str = ""  # the first check that did not pass, or the message if no check ran
    case: str = ""  # the smallest case that failed in it
    clause: str = ""  # the first clause of the contract that the check is about
    failing: frozenset[tuple[str, str]] = frozenset()  # failing cases, each with its check
    unchanged: bool = False  # it is the starter
    passed_before: bool = False  # it is the file that passed the part before, unchanged

    @property
    def idea_or_failure(self) -> str:
        """Text for the list: the idea, or else the first failure, or that the file is unchanged.

        It is empty if the parts that were asked passed.
        """
        if self.on:
            return ""
        if self.passed_before:
            return "unchanged since the pass"
        if self.unchanged:
            return "starter, unchanged"
        return ", ".join(self.ideas) or self.failed

    @property
    def verdict(self) -> str:
        """The verdict on the parts that were asked then, such as "pass after giving up"."""
        if not self.on and self.attempt.state != "pass":
            return self.attempt.state
        return "pass after giving up" if self.mark.given_up else "pass"

    @property
    def result(self) -> tuple[str | int, ...]:
        """Facts to compare with the row before: a list leaves out rows that repeat them.

        The time and the number of the try are not among them.
        """
        facts = (self.verdict, self.part, self.idea_or_failure, self.mark.hints)
        return (*facts, self.attempt.question, self.attempt.kind)


def list_history(
    ctx: Context, question_id: str | None = None, *, most: int = -1, report: str = "report"
) -> tuple[list[HistoryRow], int]:
    """Return the `most` latest versions (-1: all), the latest last, and how many are earlier.

    `report` is an SQL expression for the report of a version, such as `events.BRIEF_REPORT_SQL`.
    UsageError if no bank in use has the question and it has no versions; RecordsError if the
    records cannot be read.
    """
    which = {"question": question_id}
    if question_id is not None and "/" in question_id:
        bank_path, name = bank.find_question(ctx.banks(), question_id)
        which = {"question": name, "bank": str(bank_path)}

    def load(db: sqlite3.Connection) -> tuple[tuple[Attempt, ...], int, progress.ProgressEvents]:
        attempts = events.load_attempts(db, most=most, report=report, **which)
        earlier = events.count_attempts(db, **which) - len(attempts)
        return attempts, earlier, progress.progress_events(db, which["question"])

    # A fault of the records is an error here, because the records are the result.
    attempts, earlier, recorded = ctx.store.read(load, empty=((), 0, {}))
    if question_id is not None and not attempts:  # mistyped, or never graded
        bank.find_question(ctx.banks(), question_id)
    marks: dict[int, AttemptMark] = {}
    for question, question_bank in sorted({(row.question, row.bank) for row in attempts}):
        marks |= progress.progress_of(recorded, question, Path(question_bank)).marks
    last_marks: dict[str, AttemptMark] = {}
    rows = []
    for attempt in attempts:
        # A version that was only kept, or whose grade did not end, has the mark of the one before.
        mark = marks.get(attempt.id) or last_marks.get(attempt.question, AttemptMark())
        last_marks[attempt.question] = mark._replace(tries=0)
        rows.append(_row(attempt, mark))
    return rows, earlier


def checked_attempts(
    ctx: Context, question_id: str, question_progress: QuestionProgress
) -> list[HistoryRow]:
    """Return the latest grades of the person's own file since they began the question, in order.

    Grades of an empty or unparsable file are left out.  The list is empty if the records cannot be
    read.
    """
    try:
        rows = list_history(ctx, question_id, most=MAX_CHECKED_ATTEMPTS)[0]
    except DrillError:  # the records cannot be read
        return []
    # A grade of the starter or an unchanged file is not a try, but its page shows a failing case.
    return [
        row
        for row in rows
        if row.attempt.id > question_progress.last_earlier_attempt
        and row.attempt.verdict  # None: interrupted, so that nothing was checked
        and (row.attempt.is_try or row.unchanged or row.passed_before)
    ]


def _row(attempt: Attempt, mark: AttemptMark) -> HistoryRow:
    """Return the row of an attempt; `mark` has the person's progress at that time."""
    import json  # a list of questions does not need it

    parts_passed = progress.parts_passed(attempt.parts)
    parts = len((attempt.parts or "").split())
    went_on = attempt.kind == "grade" and parts_passed > mark.parts
    report = json.loads(attempt.report or "{}")
    checks = report.get("checks", [])
    failed_checks = [
        check
        for check in checks
        if check["verdict"] not in NON_FAILING_VERDICTS and not check.get("stretch")
    ]
    failed = failed_checks[0]["id"] if failed_checks else ""
    if report.get("message"):  # no check ran
        failed = escape_line(report["message"])
        raised = report.get("raised")
        is_unparsable = raised and raised["type"] != UNREADABLE_TYPE
        if is_unparsable and attempt.parts == progress.NO_TRY_MARK:
            failed = "a syntax error"
    row = HistoryRow(
        attempt,
        mark,
        part=parts_passed if went_on else min(parts_passed + 1, parts),
        of=parts,
        on=went_on,
        failed=failed,
        unchanged=report.get("unchanged", False),
        passed_before=attempt.parts == progress.UNCHANGED_MARK,
    )
    if went_on:  # only checks of a new part fail, and that part was not asked
        return row
    if failed_checks:
        cases = failed_checks[0].get("failing") or [""]
        clauses = failed_checks[0].get("clauses") or [{"number": ""}]
        row = row._replace(case=cases[0], clause=str(clauses[0]["number"]))
    if not row.unchanged:  # no page names an idea of the starter
        ideas = [idea["id"] for idea in report.get("misconceptions") or []]
        row = row._replace(ideas=tuple(ideas[:1]))
    failing = {(case, check["id"]) for check in checks for case in check.get("failing") or ()}
    return row._replace(failing=frozenset(failing))


def restore_version(
    ctx: Context, number: int, *, to: Path | None = None
) -> tuple[int, Path, Path | None]:
    """Write a recorded version into the new file `to`, or over the submission in its folder.

    Return its size in bytes, its path, and the copy that keeps the file that was there, if it was
    another.  UsageError for an unknown number, if `to` exists, or if the folder is not known.
    """
    recorded = ctx.store.read(lambda db: events.find_attempt(db, number), empty=None)
    if recorded is None:
        text = f"there is no version {number}"
        raise UsageError(text, hint="drill history lists those there are")
    attempt, content = recorded
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
        lambda path: progress.is_about_question(attempt.bank, path, attempt.question),
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


def list_(
    ctx: typer.Context,
    question: Annotated[
        str | None, argument("ID", "Only this question.", autocompletion=ids)
    ] = None,
    all_: Annotated[
        bool, flag("--all", f"Every grade, not only changes in the last {MAX_ROWS}.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """List what was graded or kept, the latest last (the default)."""
    context = command_context(ctx)
    rows, earlier = list_history(context, question, most=-1 if all_ or json else MAX_ROWS)
    if json:
        output.write_json(attempts=[_row_to_json(row) for row in rows])
        return
    if not rows:
        of_question = f" of {question}" if question else ""
        output.write(f"no version{of_question} yet; drill grade keeps one")
        return
    listed = rows if all_ else _changed_rows(rows)
    first_column = 2 if question else 1  # the number, and a question that is the same in all rows
    head, *table = [(cells[0], *cells[first_column:]) for cells in (_HEAD, *map(_cells, listed))]
    output.write_table(head, table, long=_IDEA_OR_FAILURE, spare=("hints", "when", "part"))
    # The folder most likely has the last version: offer the one before it.
    last = listed[-1].attempt
    before = [row.attempt.id for row in listed[:-1] if row.attempt.question == last.question]
    restore_command = f"drill history restore {before[-1] if before else last.id}"
    count = len(rows) + earlier
    if len(listed) == count:
        output.write_next_steps(restore_command)
    else:
        question_argument = f" {question}" if question else ""
        all_command = f"drill history{question_argument}{context.bank_option} --all"
        output.write_next_steps(
            all_command, restore_command, after=f"{len(listed):,} of {count:,} versions"
        )


def _row_to_json(row: HistoryRow) -> dict[str, Any]:
    """Return a version as JSON; its number is called `attempt`."""
    parts = (row.attempt.parts or "").split()
    document = row.attempt._asdict() | row.mark._asdict() | row._asdict() | {"parts": parts}
    for key in ("attempt", "mark", "failing", "report"):
        del document[key]
    return {"attempt": document.pop("id"), **document}


def _changed_rows(rows: list[HistoryRow]) -> list[HistoryRow]:
    """Return the first and the last row, and those whose result differs from the row before."""
    changed = [
        row for before, row in pairwise(rows) if row is rows[-1] or row.result != before.result
    ]
    return [*rows[:1], *changed]


def _cells(row: HistoryRow) -> tuple[str, ...]:
    attempt = row.attempt
    verdict = row.verdict
    if attempt.verdict:
        word, *more = verdict.split(" ", 1)
        verdict = " ".join([word.upper(), *more])
    if attempt.kind == "review":
        verdict = f"{verdict} (a file)"
    return (
        str(attempt.id),
        attempt.question,
        _local_time(attempt.created_at),
        str(row.mark.tries or ""),
        f"{row.part} of {row.of}" if row.of > 1 else "",
        verdict,
        row.idea_or_failure,
        str(row.mark.hints or ""),
    )


def _local_time(moment: str) -> str:
    """Return a recorded time in local time: Nov 20 21:04, or 2024-11-20 in an earlier year."""
    local = datetime.fromisoformat(moment).astimezone()
    this_year = datetime.now(UTC).astimezone().year
    return local.strftime("%b %d %H:%M" if local.year == this_year else "%Y-%m-%d")


def restore(
    ctx: typer.Context,
    attempt: Annotated[
        int, typer.Argument(metavar="NUMBER", help="The no. in drill history, not the try.")
    ],
    to: Annotated[Path | None, option("PATH", "Write it to this new file instead.")] = None,
    json: JsonOption = False,
) -> None:
    """Bring a version back, keeping what is there."""
    size, path, copy = restore_version(command_context(ctx), attempt, to=to)
    if output.emit_json(json, attempt=attempt, restored=path, kept=copy):
        return
    output.write(f"version {attempt} ({format_count(size, 'byte')}) is in {path}")
    if copy:
        output.write(f"what was there is kept in {copy}")
