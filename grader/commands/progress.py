"""`drill progress`: passed and due questions, frequent ideas, and the days of a year."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from datetime import datetime
from itertools import groupby

import typer

from grader.commands import output, schedule
from grader.commands.context import Context
from grader.commands.list_and_next import QuestionStatus, list_questions
from grader.commands.options import JsonOption, command_context
from grader.records.events import BRIEF_REPORT_SQL, RecordsError
from grader.records.progress import progress_events
from grader.reports.practice import PracticeIdea, PracticeSummary, TrackProgress, first_day


def summarize_practice(ctx: Context) -> PracticeSummary:
    """Return the numbers that `drill progress` shows, as far as the records can be read.

    A try counts once a day for each version of a file.
    """
    today = ctx.today
    statuses_by_track = groupby(list_questions(ctx), lambda status: status.header.track)
    tracks = tuple(_track_progress(name, list(group)) for name, group in statuses_by_track)
    recorded = ctx.read(progress_events, {})
    tries = {
        (event.sha256, ctx.to_local(datetime.fromisoformat(event.at)).date())
        for question_events in recorded.values()
        for event in question_events
        if event.is_try
    }
    days = Counter(day for _, day in tries)
    shown_days = {day: days[day] for day in sorted(days) if first_day(today) <= day <= today}
    return PracticeSummary(today, tracks, _frequent_ideas(ctx), shown_days)


def _track_progress(name: str, statuses: list[QuestionStatus]) -> TrackProgress:
    """Count begun, passed and due questions of a track, and the minutes spent on them."""
    minutes = [
        schedule.total_minutes(status.question_progress, status.header) for status in statuses
    ]
    return TrackProgress(
        name=name,
        questions=len(statuses),
        begun=sum(status.question_progress.state != "new" for status in statuses),
        passed=sum(status.question_progress.passed for status in statuses),
        due=sum(status.is_due for status in statuses),
        minutes=round(sum(minutes)),
    )


def _frequent_ideas(ctx: Context) -> tuple[PracticeIdea, ...]:
    """Return the wrong ideas that grades of the person's tries named, the most frequent first.

    Of each grade the first idea counts, and grades of the same version of a file count once.  Empty
    if the records cannot be read.
    """
    from grader.commands.history import list_history

    try:
        rows, _ = list_history(ctx, report=BRIEF_REPORT_SQL)
    except RecordsError:  # `summarize_practice` has warned
        return ()
    tries = {
        (idea, row.attempt.question, row.attempt.sha256)
        for row in rows
        if row.attempt.is_try
        for idea in row.ideas
    }
    counts = Counter((idea, question) for idea, question, _ in tries)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(PracticeIdea(idea, question, count) for (idea, question), count in ranked)


def progress(ctx: typer.Context, json: JsonOption = False) -> None:
    """Show what is passed and due, your ideas, and a year of days."""
    from grader.reports.practice import BLOCKS, CHARACTERS, ROWS, practice_page

    context = command_context(ctx)
    summary = summarize_practice(context)
    days = {day.isoformat(): tries for day, tries in summary.days.items()}
    tracks = [asdict(track) for track in summary.tracks]
    ideas = [asdict(idea) for idea in summary.ideas]
    if output.emit_json(json, tracks=tracks, ideas=ideas, days=days):
        return
    commands = [f"drill next{context.bank_option}"]
    if any(track.due for track in summary.tracks):
        commands.append(f"drill list{context.bank_option} --due")
    marks = BLOCKS if output.can_show(BLOCKS) else CHARACTERS
    output.show_page(
        practice_page(summary, tuple(commands), marks), rows=max(output.rows() - 1, ROWS)
    )
