"""How practice goes: what is passed and due, the ideas held most often, the days of a year."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from itertools import groupby

from grader.app import schedule
from grader.app.catalog import Standing, listed
from grader.app.context import Context
from grader.app.history import history
from grader.records import progress
from grader.records.events import BRIEF, RecordsError
from grader.reports.practice import HeldIdea, Practice, Track, first_day


def practice(ctx: Context) -> Practice:
    """Return how practice goes, as far as the records can be read."""
    today = ctx.today
    rows = listed(ctx)
    tracks = groupby(rows, lambda one: one.header.track)  # in which order they are listed
    known = ctx.read(progress.overview, {})
    versions = {
        (one.sha256, ctx.local(datetime.fromisoformat(one.at)).date())
        for entries in known.values()
        for one in entries
        if one.is_try
    }
    days = Counter(day for _, day in versions)
    return Practice(
        today,
        tuple(_track(name, list(found)) for name, found in tracks),
        _ideas(ctx),
        {day: count for day, count in sorted(days.items()) if first_day(today) <= day <= today},
    )


def _track(name: str, found: list[Standing]) -> Track:
    begun = sum(one.yours.state != "new" for one in found)
    passed = sum(one.yours.passed for one in found)
    due = sum(one.is_due for one in found)
    spent = sum(schedule.spent(one.yours, one.header) for one in found)
    return Track(name, len(found), begun, passed, due, round(spent))


def _ideas(ctx: Context) -> tuple[HeldIdea, ...]:
    """The ideas that pages named: none of a part that was not asked is among them."""
    try:
        rows, _ = history(ctx, report=BRIEF)
    except RecordsError:  # which was warned of
        return ()
    held = {
        (name, row.attempt.question, row.attempt.sha256)
        for row in rows
        if row.attempt.is_try
        for name in row.ideas
    }
    count = Counter((name, question) for name, question, _ in held)
    most = sorted(count.items(), key=lambda one: (-one[1], one[0]))
    return tuple(HeldIdea(*which, tries) for which, tries in most)
