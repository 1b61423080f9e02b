"""`drill list` and `drill next`: the questions, the progress with each, and which to do next.

`drill next` suggests an unfinished question, the latest first.  If there is none, it suggests a
question that is due for review, the longest overdue first.  If none is due, it suggests a new one:
questions with passed prerequisites come first, then easier levels, then the track of the last
question, then shorter questions.  Questions that were given up, or need torch if it is missing,
come last.  If the last question was a prediction (form `predict`), the question that it prepares
(`then` in its spec) comes before other due or new ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from grader import bank
from grader.commands import output, schedule
from grader.commands.context import Context, torch_installed
from grader.commands.options import (
    JsonOption,
    LevelOption,
    RoleOption,
    TrackOption,
    argument,
    command_context,
    flag,
    option,
)
from grader.commands.workspaces import read_workspace
from grader.model.errors import DrillError, UsageError, did_you_mean
from grader.model.number_format import format_count
from grader.model.question import Header
from grader.records import progress
from grader.records.progress import QuestionProgress

PracticeState = Literal["unfinished", "due", "new", "later", "unreadable"]
LEVELS = ("warm-up", "core", "senior")  # from the easiest on
ROLES = ("training", "inference", "research", "kernels")
_TABLE_HEAD = ("question", "title", "level", "parts", "min", "you")
_NO_QUESTIONS = "no questions: the banks that were found hold none"


class QuestionStatus(NamedTuple):
    """A question, the progress with it, and the day on which it comes back."""

    header: Header
    question_progress: QuestionProgress
    due: date | None  # None: no sitting of it is finished
    today: date

    @property
    def is_due(self) -> bool:
        """True if a review of the question is due and not begun."""
        return (
            self.question_progress.is_finished and self.due is not None and self.due <= self.today
        )

    @property
    def practice_state(self) -> PracticeState:
        """One of: due or later (a review), new, unfinished, or unreadable (its spec is broken)."""
        if not self.header.minutes:  # every spec that can be read has some
            return "unreadable"
        if self.question_progress.is_finished:
            return "due" if self.is_due else "later"
        return "new" if self.question_progress.state == "new" else "unfinished"


class QuestionFilter(NamedTuple):
    """Conditions on the questions to list; None and "" accept every question."""

    track: str | None = None
    level: str | None = None
    role: str | None = None
    form: str | None = None
    text: str = ""  # in the ID, the title or the track
    under: int | None = None  # at most so many minutes

    def accepts(self, header: Header) -> bool:
        """Return True if a question meets all conditions."""
        return (
            self.track in {None, header.track}
            and self.level in {None, header.level}
            and (self.role is None or self.role in header.roles)
            and (self.under is None or header.minutes <= self.under)
            and self.form in {None, header.form}
            and self.text.lower() in f"{header.called}\n{header.title}\n{header.track}".lower()
        )


EVERY_QUESTION = QuestionFilter()


def _require_known(option_name: str, word: str | None, words: Sequence[str]) -> None:
    """Raise UsageError if the value of an option is not one of these words."""
    if word is not None and word not in words:
        raise UsageError(
            f"--{option_name} {word}: there is no such {option_name}{did_you_mean(word, words)}",
            hint=f"the {option_name}s are {', '.join(words)}" if words else "",
        )


def list_questions(
    ctx: Context,
    question_filter: QuestionFilter = EVERY_QUESTION,
    *,
    new: bool = False,
    due: bool = False,
) -> list[QuestionStatus]:
    """Return the questions that a filter accepts, with progress and the days they come back.

    `new`: only those that are not begun.  `due`: only those that are due for review.  UsageError if
    the form, track, level or role of the filter does not exist.
    """
    if question_filter.form is not None:
        from grader import forms  # an unfiltered list does not need it

        _require_known("form", question_filter.form, forms.FORM_NAMES)
    headers = bank.headers(ctx.banks())
    _require_known("track", question_filter.track, sorted({header.track for header in headers}))
    _require_known("level", question_filter.level, LEVELS)
    _require_known("role", question_filter.role, ROLES)
    recorded = ctx.read(progress.progress_events, {})
    today = ctx.today
    rows = []
    for header in filter(question_filter.accepts, headers):
        is_prediction = header.form == "predict"
        question_progress = progress.progress_of(
            recorded, header.id, header.bank, once=is_prediction
        )
        if new and question_progress.state != "new":
            continue
        due_date = schedule.due_date(ctx, header, question_progress)
        row = QuestionStatus(header, question_progress, due_date, today)
        if row.is_due or not due:
            rows.append(row)
    return rows


class _Ranking:
    """The order in which `drill next` suggests questions."""

    def __init__(self, ctx: Context, rows: Sequence[QuestionStatus]) -> None:
        """Find the last question, the one that it prepares if it is a prediction, and undone ones.

        `rows` are all questions that can be read.
        """
        self.recent_ids = ctx.read(progress.recent_questions, ())
        self.torch_installed = torch_installed()
        self.undone = set()
        for row in rows:
            is_done = row.question_progress.passed
            if row.header.form == "predict":  # its first grade finishes it, right or wrong
                is_done |= bool(row.question_progress.rated_moments)
            if not is_done:
                self.undone.add((row.header.bank, row.header.id))
        by_id = {row.header.id: row for row in reversed(rows)}
        self.last = next((by_id[name] for name in self.recent_ids if name in by_id), None)
        self.prepared_id = ""
        last = self.last
        if last and last.header.form == "predict" and last.question_progress.is_finished:
            with suppress(DrillError):  # its spec cannot be read any more
                question = bank.load_question([last.header.bank], last.header.id)
                self.prepared_id = question.spec.then or ""

    def undone_prerequisites(self, header: Header) -> list[str]:
        """Return the prerequisites of a question that are not done."""
        return sorted(id_ for id_ in header.prerequisites if (header.bank, id_) in self.undone)

    def lacks_torch(self, header: Header) -> bool:
        """Return True if a question needs torch, and torch is not installed."""
        return header.torch and not self.torch_installed

    def rank(self, row: QuestionStatus) -> tuple[int, ...]:
        """Return a sort key of a question; the lowest is suggested."""
        header = row.header
        due_day = (row.due or row.today).toordinal()
        lacks_torch = self.lacks_torch(header)
        is_not_prepared = header.id != self.prepared_id
        match row.practice_state:
            case "unfinished":
                return (0, [*self.recent_ids, header.id].index(header.id))
            case "due":
                return (1, lacks_torch, is_not_prepared, due_day)
            case "new":
                level = [*LEVELS, header.level].index(header.level)
                is_other_track = self.last is not None and header.track != self.last.header.track
                return (
                    2,
                    row.question_progress.given_up,
                    lacks_torch,
                    is_not_prepared,
                    bool(self.undone_prerequisites(header)),
                    level,
                    is_other_track,
                    header.minutes,
                )
            case "later" | "unreadable":
                return (3, due_day)

    def reason_for_new(self, header: Header) -> str:
        """Return why a new question is suggested: "new, core, 25 min: the easiest come first"."""
        why = "the easiest come first"
        if self.last and header.id == self.prepared_id:
            why = f"it goes on from {self.last.header.called}"
        reason = f"new, {header.level}, {header.minutes} min: {why}"
        prerequisites = self.undone_prerequisites(header)
        if prerequisites:
            reason += f"; better after {' and '.join(prerequisites)}"
        return reason


def suggest_question(ctx: Context) -> tuple[QuestionStatus, str, Path | None] | None:
    """Return the question to do next, the reason, and its folder, if it has one.

    If every question is finished and none is due, it is the one that is due next, in the state
    `later`.  None if no question can be read.
    """
    rows = [row for row in list_questions(ctx) if row.practice_state != "unreadable"]
    ranking = _Ranking(ctx, rows)
    best = min(rows, key=ranking.rank, default=None)
    if best is None:
        return None
    header = best.header
    state = best.practice_state
    if state == "unfinished":
        reason = _reason_for_unfinished(ctx, best)
        due_count = sum(row.is_due for row in rows)
        if due_count:
            reason += f"; {format_count(due_count, 'question')} due (drill list --due)"
    elif state == "new":
        reason = ranking.reason_for_new(header)
    else:
        reason = schedule.return_reason(ctx, best.question_progress)
    if state == "due" and best.due:
        reason = f"{schedule.due_text(best.due, best.today)}: {reason}"
    if ranking.lacks_torch(header):
        reason += "; it needs torch, which is not installed"
    return best, reason, _last_folder(ctx, header)


def _last_folder(ctx: Context, header: Header) -> Path | None:
    """Return the folder in which a question was started last; None if there is none (any more)."""
    for start in ctx.starts:
        if start.question == header.id and progress.is_about_question(
            start.bank, str(header.bank), header.id
        ):
            folder = Path(start.folder)
            return folder if read_workspace(folder) is not None else None
    return None


def _reason_for_unfinished(ctx: Context, status: QuestionStatus) -> str:
    """Return the progress: "part 2 of 3, begun: 4 tries; last idea no-bias-correction"."""
    from grader.commands.history import checked_attempts  # a list does not need it

    question_progress = status.question_progress
    rows = checked_attempts(ctx, status.header.called, question_progress)
    while any(row.on for row in rows):  # drop all grades up to the pass of the part before
        rows.pop(0)
    tries = {row.attempt.sha256 for row in rows if row.attempt.is_try}
    text = "no try at it yet"
    if tries:
        text = format_count(len(tries), "try", "tries")
        if rows[-1].ideas:
            text += f"; last idea {rows[-1].ideas[0]}"
    elif rows and rows[-1].unchanged:
        text = "only the starter was graded"
    reason = f"{'begun again' if question_progress.passed else 'begun'}: {text}"
    parts = status.header.parts
    if parts > 1:
        reason = f"part {question_progress.count_parts_asked(parts)} of {parts}, {reason}"
    return reason


def list_(
    ctx: typer.Context,
    text: Annotated[str, argument("TEXT", "Only IDs, titles and tracks with this text.")] = "",
    track: TrackOption = None,
    level: LevelOption = None,
    role: RoleOption = None,
    form: Annotated[
        str | None, option("FORM", "Only this form: fix, estimate, predict, derive, review, ...")
    ] = None,
    due: Annotated[bool, flag("--due", "Only those due for review.")] = False,
    new: Annotated[bool, flag("--new", "Only those not begun.")] = False,
    under: Annotated[int | None, option("MIN", "Only those of at most MIN minutes.", min=1)] = None,
    json: JsonOption = False,
) -> None:
    """List the questions, how far you are with each, and what is due."""
    context = command_context(ctx)
    question_filter = QuestionFilter(track, level, role, form, text, under)
    rows = list_questions(context, question_filter, new=new, due=due)
    if output.emit_json(json, questions=[_row_to_json(row) for row in rows]):
        return
    if rows:
        output.write_table(_TABLE_HEAD, _table(rows), long="title", spare=("level", "min"))
        # The summary comes last, where it stays visible.
        summary = f"{sum(row.question_progress.passed for row in rows)} of {len(rows)} passed"
        due_count = sum(row.is_due for row in rows)
        if due_count:
            summary += f", {due_count} due for review"
        output.write_next_steps(f"drill next{context.bank_option}", after=summary)
    elif question_filter != EVERY_QUESTION or new:
        output.write_next_steps(f"drill list{context.bank_option}", after="no such questions")
    elif due:
        output.write_next_steps(f"drill next{context.bank_option}", after="nothing is due")
    else:
        output.write(_NO_QUESTIONS)


def _row_to_json(row: QuestionStatus) -> dict[str, Any]:
    header = row.header
    names = ("id", "called", "title", "track", "form", "level", "roles", "minutes", "bank")
    return {name: getattr(header, name) for name in names} | {
        "state": row.question_progress.state,
        "tries": row.question_progress.tries,
        "passed": row.question_progress.passed,
        "due": row.due and row.due.isoformat(),
        "parts": header.parts,
        "parts_passed": row.question_progress.count_parts_passed(header.parts),
    }


def _table(rows: Iterable[QuestionStatus]) -> list[tuple[str, ...]]:
    """Return the lines of the table, with the name of each track above its questions."""
    lines: list[tuple[str, ...]] = []
    track = None
    for row in rows:
        if row.header.track != track:
            track = row.header.track
            lines.append((track,))
        lines.append(_cells(row))
    return lines


def _cells(row: QuestionStatus) -> tuple[str, ...]:
    header = row.header
    question_progress = row.question_progress
    passed = f"{question_progress.count_parts_passed(header.parts)}/{header.parts}"
    state: str = question_progress.state
    if state == "tried":
        state = format_count(question_progress.tries, "try", "tries")
    if row.due and question_progress.is_finished:
        state = schedule.due_text(row.due, row.today)
    return f"  {header.called}", header.title, header.level, passed, str(header.minutes), state


def next_(ctx: typer.Context, json: JsonOption = False) -> None:
    """Say what to do next, and why."""
    context = command_context(ctx)
    suggestion = suggest_question(context)
    if suggestion is None:
        if not output.emit_json(json, next=None):
            output.write(_NO_QUESTIONS)
        return
    status, reason, folder = suggestion
    called = status.header.called
    state = status.practice_state
    row = {
        "question": called,
        "kind": state,
        "reason": reason,
        "due": status.due and status.due.isoformat(),
        "folder": folder,
    }
    if output.emit_json(json, next=row):
        return
    from grader.reports.blocks import Paragraph

    if status.due and state == "later":
        day = schedule.format_day(status.due, status.today)
        output.write(f"Nothing is due until {day}. Then:")
    output.show_page([Paragraph(f"\xa0\xa0{reason}", called, hang=4)])
    bank_option = context.bank_option
    start = f"drill start {called}{bank_option}"
    if state == "due":
        output.write_next_steps(f"{start} --again")
    elif state == "later":
        output.write_next_steps(f"{start} --again", f"drill list{bank_option}")
    elif state == "new" or folder is None:
        output.write_next_steps(start)
    else:
        output.write_next_steps(f"{context.cd_prefix(folder)}drill grade{bank_option}")
