"""The questions there are, how far a person is with each, and which to do next.

Next is what was begun and is not over, the one worked on last before the others; then what is due
for review, the longest overdue first; then what is new: what asks for nothing that is still to be
passed, the easiest level first, in it the track worked on last, and in that the shortest. A
prediction is followed by the question that it prepares.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple

from grader import bank
from grader.commands import schedule
from grader.commands.context import Context, torch_installed
from grader.commands.workspaces import read_workspace
from grader.model.errors import DrillError, UsageError, did_you_mean
from grader.model.number_format import format_count
from grader.model.question import Header
from grader.records import progress
from grader.records.progress import QuestionProgress

PracticeState = Literal["unfinished", "due", "new", "later"]
LEVELS = ("warm-up", "core", "senior")  # from the easiest on
ROLES = ("training", "inference", "research", "kernels")


class QuestionStatus(NamedTuple):
    """A question, how far a person is with it, and when it comes back."""

    header: Header
    question_progress: QuestionProgress
    due: date | None  # None: no sitting of it is over
    today: date

    @property
    def is_due(self) -> bool:
        """Whether it is to be done again by now, and that is not begun."""
        return (
            self.question_progress.is_finished and self.due is not None and self.due <= self.today
        )

    @property
    def practice_state(self) -> PracticeState:
        """Whether it is begun and not over, to be done again, new, or to be done again later."""
        if self.question_progress.is_finished:
            return "due" if self.is_due else "later"
        return "new" if self.question_progress.state == "new" else "unfinished"


class Suggestion(NamedTuple):
    """A question, and why it is suggested; where its kind is `later`, nothing is to be done now."""

    question_status: QuestionStatus
    reason: str
    folder: Path | None  # in which it was begun, if that is still there


def _known(option: str, word: str | None, words: Sequence[str]) -> None:
    if word is not None and word not in words:
        raise UsageError(
            f"--{option} {word}: there is no such {option}{did_you_mean(word, words)}",
            hint=f"the {option}s are {', '.join(words)}" if words else "",
        )


def list_questions(
    ctx: Context,
    track: str | None = None,
    level: str | None = None,
    role: str | None = None,
    *,
    form: str | None = None,
    text: str = "",
    new: bool = False,
    due: bool = False,
    under: int | None = None,
) -> list[QuestionStatus]:
    """Return questions with the days on which they come back: all, or those that are asked for.

    `text` is looked for in the ID, the title and the track.
    """
    if form is not None:
        from grader import forms  # which a whole list does without

        _known("form", form, forms.FORM_NAMES)
    found = bank.headers(ctx.banks())
    _known("track", track, sorted({header.track for header in found}))
    _known("level", level, LEVELS)
    _known("role", role, ROLES)
    known = ctx.read(progress.progress_events, {})
    today = ctx.today
    wanted = [
        header
        for header in found
        if track in {None, header.track} and level in {None, header.level}
        if role in {None, *header.roles} and (under is None or header.minutes <= under)
        if form in {None, header.form} and _mentions(header, text)
    ]
    rows = []
    for header in wanted:
        yours = progress.progress_of(known, header.id, header.bank, once=header.form == "predict")
        if yours.state == "new" or not new:
            row = QuestionStatus(header, yours, schedule.due_date(ctx, header, yours), today)
            if row.is_due or not due:
                rows.append(row)
    return rows


def _mentions(header: Header, text: str) -> bool:
    """Return True if the ID, the title or the track of a question has a text in it."""
    return text.lower() in f"{header.called}\n{header.title}\n{header.track}".lower()


def suggest_question(ctx: Context) -> Suggestion | None:
    """Return the question to do next; None where there is none at all."""
    order = ctx.read(progress.recent_questions, ())
    today = ctx.today
    able = torch_installed()
    every = list_questions(ctx)
    undone = {
        (one.header.bank, one.header.id)
        for one in every  # a prediction prepares, right or wrong
        if not (
            one.question_progress.passed
            or (one.header.form == "predict" and one.question_progress.rated_moments)
        )
    }
    last = next((one for name in order for one in every if one.header.id == name), None)
    prepared = _prepared(last)

    def before(header: Header) -> list[str]:
        return sorted(n for n in header.prerequisites if (header.bank, n) in undone)

    def rank(one: QuestionStatus) -> tuple[int, ...]:
        header = one.header
        due = (one.due or today).toordinal()
        unable = header.torch and not able
        other = header.id != prepared
        match one.practice_state:
            case "unfinished":
                return (0, [*order, header.id].index(header.id))
            case "due":
                return (1, unable, other, due)
            case "new":
                level = [*LEVELS, header.level].index(header.level)
                elsewhere = last is not None and header.track != last.header.track
                late = (one.question_progress.given_up, unable, other, bool(before(header)))
                return (2, *late, level, elsewhere, header.minutes)
            case "later":
                return (3, due)

    one = min(every, key=rank, default=None)
    if one is None:
        return None
    header = one.header
    yours = one.question_progress
    kind = one.practice_state
    if kind == "unfinished":
        part = f"part {yours.count_parts_asked(header.parts)} of {header.parts}, " * (
            header.parts > 1
        )
        reason = f"{part}begun{' again' * yours.passed}: {_begun(ctx, header, yours)}"
        if waiting := sum(other.is_due for other in every):
            reason += f"; {format_count(waiting, 'question')} due (drill list --due)"
    elif kind == "new":
        easiest = "the easiest come first"
        if last and header.id == prepared:
            easiest = f"it goes on from {last.header.called}"
        reason = f"new, {header.level}, {header.minutes} min: {easiest}"
        if first := before(header):
            reason += f"; better after {' and '.join(first)}"
    else:
        reason = schedule.return_reason(ctx, yours)
    if kind == "due" and one.due:
        reason = f"{schedule.due_text(one.due, today)}: {reason}"
    if header.torch and not able:
        reason += "; it needs torch, which is not installed"
    return Suggestion(one, reason, _folder(ctx, header))


def _prepared(last: QuestionStatus | None) -> str:
    """The question that the prediction a person made last prepares; nothing where it was none."""
    if last is None or last.header.form != "predict" or not last.question_progress.is_finished:
        return ""
    with suppress(DrillError):  # it cannot be read any more
        return bank.load([last.header.bank], last.header.id).spec.then or ""
    return ""


def _folder(ctx: Context, header: Header) -> Path | None:
    """Where a question was started last, if that is a drill still."""
    for start in ctx.starts:
        if start.question == header.id and progress.is_about_question(
            start.bank, str(header.bank), header.id
        ):
            folder = Path(start.folder)
            return folder if read_workspace(folder) is not None else None
    return None


def _begun(ctx: Context, header: Header, yours: QuestionProgress) -> str:
    """What was tried of the part that is asked now, and the last idea that was shown."""
    from grader.commands.history_rows import (
        checked_attempts,  # reads reports, which a list does not
    )

    rows = checked_attempts(ctx, header.called, yours)
    while any(row.on for row in rows):  # of parts before it
        rows.pop(0)
    tries = {row.attempt.sha256 for row in rows if row.attempt.is_try and row.attempt.verdict}
    if not tries:
        return "only the starter was graded" if rows and rows[-1].unchanged else "no try at it yet"
    idea = f"; last idea {rows[-1].ideas[0]}" if rows[-1].ideas else ""
    return format_count(len(tries), "try", "tries") + idea
