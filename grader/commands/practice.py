"""How practice goes: what is passed and due, the ideas held most often, the days of a year."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from itertools import groupby

from grader.commands import schedule
from grader.commands.context import Context
from grader.commands.history_rows import list_history
from grader.commands.questions import QuestionStatus, list_questions
from grader.records import progress
from grader.records.events import BRIEF_REPORT_SQL, RecordsError
from grader.reports.practice import PracticeIdea, PracticeSummary, TrackProgress, first_day


def summarize_practice(ctx: Context) -> PracticeSummary:
    """Return how practice goes, as far as the records can be read."""
    today = ctx.today
    rows = list_questions(ctx)
    tracks = groupby(rows, lambda one: one.header.track)  # in which order they are listed
    known = ctx.read(progress.progress_events, {})
    versions = {
        (one.sha256, ctx.to_local(datetime.fromisoformat(one.at)).date())
        for entries in known.values()
        for one in entries
        if one.is_try
    }
    days = Counter(day for _, day in versions)
    return PracticeSummary(
        today,
        tuple(_track(name, list(found)) for name, found in tracks),
        _ideas(ctx),
        {day: count for day, count in sorted(days.items()) if first_day(today) <= day <= today},
    )


def _track(name: str, found: list[QuestionStatus]) -> TrackProgress:
    begun = sum(one.question_progress.state != "new" for one in found)
    passed = sum(one.question_progress.passed for one in found)
    due = sum(one.is_due for one in found)
    spent = sum(schedule.total_minutes(one.question_progress, one.header) for one in found)
    return TrackProgress(name, len(found), begun, passed, due, round(spent))


def _ideas(ctx: Context) -> tuple[PracticeIdea, ...]:
    """The ideas that pages named: none of a part that was not asked is among them."""
    try:
        rows, _ = list_history(ctx, report=BRIEF_REPORT_SQL)
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
    return tuple(PracticeIdea(*which, tries) for which, tries in most)
