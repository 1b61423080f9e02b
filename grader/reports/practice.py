"""The page of how practice goes: tracks, the ideas held most often, a year of days."""

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

ROWS = 22  # so that the command above and the prompt below stay on a screen of 24
BLOCKS, CHARACTERS = "·░▒▓█", ".-+*#"  # for a day without a try, and with more and more of them
_LEAST = (1, 3, 6, 10)  # tries of a day that gets the second mark, the third, ...
_WEEKS = 53
_LEGEND = 80  # columns from which there is room for one at the right
_MOST_IDEAS = 3


@dataclass(frozen=True, slots=True)
class TrackProgress:
    """What was done of the questions of a track."""

    name: str
    questions: int
    begun: int
    passed: int
    due: int
    minutes: int  # spent


@dataclass(frozen=True, slots=True)
class PracticeIdea:
    """A misconception, as pages named it."""

    name: str
    question: str
    tries: int  # that held it


@dataclass(frozen=True, slots=True)
class PracticeSummary:
    """How practice goes, until a day."""

    today: date
    tracks: tuple[TrackProgress, ...]
    ideas: tuple[PracticeIdea, ...]  # those held most often first
    days: Mapping[date, int]  # tries on each day of the last year with any, in order


def first_day(today: date) -> date:
    """Return the first day that the page shows: the Monday of a week a year ago."""
    return today - timedelta(today.weekday() + 7 * (_WEEKS - 1))


def practice_page(practice: PracticeSummary, steps: tuple[str, ...], marks: str = BLOCKS) -> Blocks:
    """Everything that is said of how practice goes, for `ROWS` rows; `marks` are for the days."""
    tracks = practice.tracks
    passed, due, minutes = (
        sum(getattr(one, name) for one in tracks) for name in ("passed", "due", "minutes")
    )
    said = f"{passed} of {sum(one.questions for one in tracks)} passed, {due} due for review"
    if minutes:
        hours = format_count(round(minutes / 60), "hour")
        said += f"; {hours if minutes >= 120 else format_count(minutes, 'minute')} spent"
    yield Paragraph(said)
    yield _gap(2)
    begun = [one for one in tracks if one.begun]
    rows = [
        (one.name, f"{one.passed}/{one.questions}", str(one.due or ""), f"{one.minutes:,}")
        for one in begun
    ]
    yield _table(("track", "passed", "due", "min"), rows, 10)
    if begun and len(begun) < len(tracks):
        rest = ", ".join(one.name for one in tracks if not one.begun)
        yield ShrinkableBlocks((Paragraph(rest, "Not begun:", "", hang=4),), (ShorterForm(9),))
    yield _gap(3)
    ideas = [(one.name, str(one.tries), one.question) for one in practice.ideas[:_MOST_IDEAS]]
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
    """A table that loses rows from its end, from a rank on, and counts them."""
    right = ("passed", "due", "min", "tries")
    fewer = []
    for left in range(1, len(rows)):
        more = Paragraph(f"and {left} more")
        fewer.append(ShorterForm(rank + left, (Table(head, rows[:-left], right), more)))
    return ShrinkableBlocks((Table(head, rows, right),) if rows else (), fewer)


def _calendar(practice: PracticeSummary, marks: str, width: int) -> Iterator[str]:
    """The days, a week in a column; what the marks mean is at the right, or below."""
    first = first_day(practice.today)
    months = ""
    for week in range(_WEEKS):
        day = first + timedelta(7 * week)
        if day.day <= 7 and len(months) <= week:
            months += f"{' ' * (week - len(months))}{day:%b} "
    yield f"    {months}".rstrip()
    tries = format_count(sum(practice.days.values()), "try", "tries")
    legend = [f"{tries}; per day:", f"{marks[0]} none"]
    legend += [f"{mark} {least} or more" for mark, least in zip(marks[1:], _LEAST, strict=True)]
    wide = width >= _LEGEND
    for weekday, name in enumerate(("Mon", "", "Wed", "", "Fri", "", "Sun")):
        days = [first + timedelta(7 * week + weekday) for week in range(_WEEKS)]
        row = "".join(
            marks[bisect(_LEAST, practice.days.get(day, 0))] if day <= practice.today else " "
            for day in days
        )
        yield f"{name:4}{row}  {legend[weekday] if wide and weekday < len(legend) else ''}".rstrip()
    if not wide:
        yield f"    {'  '.join(legend).replace(' or more', '+')}"


def _by_month(days: Mapping[date, int]) -> Iterator[str]:
    for month, group in groupby(days, lambda day: (day.year, day.month)):
        those = list(group)
        tries = format_count(sum(days[day] for day in those), "try", "tries")
        yield f"{date(*month, 1):%B %Y}: {tries} on {format_count(len(those), 'day')}."
