"""The page of progress: tracks, the most frequent ideas, and a calendar of a year."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from itertools import groupby

from grader.model.number_format import format_count
from grader.reports.blocks import (
    BlankLine,
    Block,
    Blocks,
    Commands,
    Figure,
    Paragraph,
    ShorterForm,
    ShrinkableBlocks,
    Table,
)

ROWS = 22  # with the command above and the prompt below, a screen of 24
BLOCKS, CHARACTERS = "·░▒▓█", ".-+*#"  # for a day without tries, then with more and more
_MIN_TRIES = (1, 3, 6, 10)  # of a day with the second mark, the third, ...
_WEEKS = 53
_MIN_LEGEND_WIDTH = 80  # columns, for a legend at the right
_MAX_IDEAS = 3


@dataclass(frozen=True, slots=True)
class TrackProgress:
    """Progress in the questions of a track."""

    name: str
    questions: int
    begun: int
    passed: int
    due: int
    minutes: int  # spent


@dataclass(frozen=True, slots=True)
class PracticeIdea:
    """A wrong idea that grades found in the person's files."""

    name: str
    question: str
    tries: int  # that showed it


@dataclass(frozen=True, slots=True)
class PracticeSummary:
    """All facts on the page of progress, up to the end of the day `today`."""

    today: date
    tracks: tuple[TrackProgress, ...]
    ideas: tuple[PracticeIdea, ...]  # the most frequent first
    days: Mapping[
        date, int
    ]  # number of tries by day, in order, for days of the last year with tries


def first_day(today: date) -> date:
    """Return the first day that the calendar shows: the Monday 52 weeks before this week's."""
    return today - timedelta(today.weekday() + 7 * (_WEEKS - 1))


def practice_page(practice: PracticeSummary, steps: tuple[str, ...], marks: str = BLOCKS) -> Blocks:
    """Yield the page of progress, which shrinks to `ROWS` rows.

    Args:
        practice: The facts.
        steps: Commands to continue with.
        marks: Characters for a day without tries, then with more and more.
    """
    tracks = practice.tracks
    questions = sum(track.questions for track in tracks)
    passed = sum(track.passed for track in tracks)
    due = sum(track.due for track in tracks)
    minutes = sum(track.minutes for track in tracks)
    text = f"{passed} of {questions} passed, {due} due for review"
    if minutes >= 120:
        text += f"; {format_count(round(minutes / 60), 'hour')} spent"
    elif minutes:
        text += f"; {format_count(minutes, 'minute')} spent"
    yield Paragraph(text)
    yield _gap(2)
    begun = [track for track in tracks if track.begun]
    rows = []
    for track in begun:
        score = f"{track.passed}/{track.questions}"
        rows.append((track.name, score, str(track.due or ""), f"{track.minutes:,}"))
    yield _table(("track", "passed", "due", "min"), rows, 10)
    if begun and len(begun) < len(tracks):
        names = ", ".join(track.name for track in tracks if not track.begun)
        yield ShrinkableBlocks((Paragraph(names, "Not begun:", "", hang=4),), (ShorterForm(9),))
    yield _gap(3)
    ideas = [(idea.name, str(idea.tries), idea.question) for idea in practice.ideas[:_MAX_IDEAS]]
    yield _table(("held most often", "tries", "question"), ideas, 5)
    yield _gap(4)
    if practice.days:
        draw = partial(_calendar, practice, marks)
        yield Figure(draw, tuple(_by_month(practice.days)))
        yield _gap(1)
    yield Commands(steps)


def _gap(rank: int) -> Block:
    return ShrinkableBlocks((BlankLine(),), (ShorterForm(rank),))


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], rank: int) -> Block:
    """Return a table that loses rows from its end if the page is too long, and counts them.

    Parts of the page with a lower rank are shortened before.
    """
    if not rows:
        return ShrinkableBlocks((), ())
    right = ("passed", "due", "min", "tries")
    shorter_forms = []
    for left_out in range(1, len(rows)):
        table = Table(head, rows[:-left_out], right)
        note = Paragraph(f"and {left_out} more")
        shorter_forms.append(ShorterForm(rank + left_out, (table, note)))
    return ShrinkableBlocks((Table(head, rows, right),), shorter_forms)


def _calendar(practice: PracticeSummary, marks: str, width: int) -> Iterator[str]:
    """Yield lines of a calendar, a week in each column, with a legend at the right or below."""
    first = first_day(practice.today)
    months = ""
    for week in range(_WEEKS):
        day = first + timedelta(7 * week)
        if day.day <= 7 and len(months) <= week:
            months += f"{' ' * (week - len(months))}{day:%b} "
    yield f"    {months}".rstrip()
    tries = format_count(sum(practice.days.values()), "try", "tries")
    legend = [f"{tries}; per day:", f"{marks[0]} none"]
    legend += [f"{mark} {least} or more" for mark, least in zip(marks[1:], _MIN_TRIES, strict=True)]
    is_wide = width >= _MIN_LEGEND_WIDTH
    for weekday, name in enumerate(("Mon", "", "Wed", "", "Fri", "", "Sun")):
        days = [first + timedelta(7 * week + weekday) for week in range(_WEEKS)]
        row = ""
        for day in days:
            level = bisect(_MIN_TRIES, practice.days.get(day, 0))
            row += marks[level] if day <= practice.today else " "
        note = legend[weekday] if is_wide and weekday < len(legend) else ""
        yield f"{name:4}{row}  {note}".rstrip()
    if not is_wide:
        yield f"    {'  '.join(legend).replace(' or more', '+')}"


def _by_month(days: Mapping[date, int]) -> Iterator[str]:
    for month, group in groupby(days, lambda day: (day.year, day.month)):
        active = list(group)
        tries = format_count(sum(days[day] for day in active), "try", "tries")
        yield f"{date(*month, 1):%B %Y}: {tries} on {format_count(len(active), 'day')}."
