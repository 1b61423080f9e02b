"""When a question comes back: FSRS, over ratings that follow from what is on record (ADR 28).

Nothing of a schedule is stored. A sitting that is over has a rating, from whether it ended with a
pass, and from misses, hints and minutes; so has a wrong answer to a follow-up. FSRS goes through
them in the order in which they were recorded. Its package is imported only where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from itertools import pairwise

from grader.commands.context import Context
from grader.model.number_format import format_count
from grader.model.question import Header
from grader.records.progress import QuestionProgress

AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4  # as FSRS numbers them
SLOW_FACTOR = 1.5  # times the planned minutes
PAUSE_FACTOR = 4.0  # times the planned minutes without a sign of life: nobody was there
MAX_INTERVAL_DAYS = 180  # days until a question comes back


def minutes_spent(moments: Sequence[str], planned: int) -> float:
    """Return the minutes spent on what was done at some moments, of so many planned.

    A pause longer than `PAUSE_FACTOR` counts as the planned ones, and a clock that went back as none.
    """
    times = map(datetime.fromisoformat, moments)
    gaps = ((after - before).total_seconds() / 60 for before, after in pairwise(times))
    return sum(planned if gap > PAUSE_FACTOR * planned else max(gap, 0.0) for gap in gaps)


def total_minutes(yours: QuestionProgress, header: Header) -> float:
    """Return the minutes spent on a question in all its sittings."""
    over = (one for one in yours.rated_moments if not isinstance(one, str))
    sittings = [*over, *[yours] * (not yours.is_finished)]
    return sum(minutes_spent(one.moments, header.minutes) for one in sittings)


def rate_sitting(ended: QuestionProgress, header: Header) -> int:
    """Return how well a sitting went, of a question as it was when the sitting was over."""
    if not ended.passed_in_sitting:
        return AGAIN
    took = minutes_spent(ended.moments, header.minutes)
    strained = [
        ended.failed_tries > header.parts,
        ended.highest_hint > 0,
        took > SLOW_FACTOR * header.minutes,
    ]
    if any(strained):  # with Hard FSRS still waits longer than before
        return AGAIN if all(strained) else HARD
    return GOOD if ended.failed_tries or took > header.minutes else EASY


def due_date(ctx: Context, header: Header, yours: QuestionProgress) -> date | None:
    """Return the day on which a question comes back; None before a first sitting is over."""
    if not yours.rated_moments:
        return None
    from fsrs import Card, Rating, Scheduler

    # Whole days from the first sitting on: a question takes too long to be asked twice on one.
    scheduler = Scheduler(
        learning_steps=(),
        relearning_steps=(),
        maximum_interval=MAX_INTERVAL_DAYS,
        enable_fuzzing=False,
    )
    card = None
    for one in yours.rated_moments:
        at = datetime.fromisoformat(one if isinstance(one, str) else one.moments[-1])
        at = at.astimezone(UTC)
        if not isinstance(one, str):
            card = card or Card(0, due=at)
            card, _ = scheduler.review_card(card, Rating(rate_sitting(one, header)), at)
        elif card:  # a wrong answer brings nothing back later
            before = card.due
            card, _ = scheduler.review_card(card, Rating.Again, at)
            card.due = min(card.due, before)
    return ctx.to_local(card.due).date() if card else None


def format_day(when: date, today: date) -> str:
    """Return a day as it is said: Nov 22, or 2027-11-22 where that would be another."""
    near = abs((when - today).days) < 300
    return f"{when:%b} {when.day}" if near else when.isoformat()


def due_text(due: date, today: date) -> str:
    """Return when something is due: "due today", "due since Nov 20", "due Dec 3"."""
    return (
        "due today" if due == today else f"due {'since ' * (due < today)}{format_day(due, today)}"
    )


def return_reason(ctx: Context, yours: QuestionProgress) -> str:
    """Return what a question comes back for: "passed 2 days ago in 3 tries, no hints"."""
    last = yours.rated_moments[-1]
    at = datetime.fromisoformat(last if isinstance(last, str) else last.moments[-1])
    days = max((ctx.today - ctx.to_local(at).date()).days, 0)
    ago = f"{format_count(days, 'day')} ago" if days else "today"
    if isinstance(last, str):
        return f"a follow-up was answered wrong {ago}"
    if not last.passed_in_sitting:
        return f"{'given up' if last.given_up else 'predicted wrong'} {ago}"
    hints = format_count(last.hints_shown, "hint") if last.hints_shown else "no hints"
    return f"passed {ago} in {format_count(last.tries, 'try', 'tries')}, {hints}"
