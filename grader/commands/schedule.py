"""The day on which a question comes back: FSRS, over ratings that follow from the records (ADR 28).

FSRS is an algorithm for spaced repetition: the better the ratings, the later the next review.  The
schedule is not stored.  A sitting is one time through a question: from its start to a pass, a look
at the solution, or the one try of a prediction.  Each finished sitting has a rating, from its end
and from failed tries, hints and minutes; each wrong answer to a follow-up is rated "again".  FSRS
takes the ratings in the order of the records.  Its package is imported only if there is a rating.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from grader.model.number_format import format_count
from grader.model.question import Header
from grader.records.progress import QuestionProgress

if TYPE_CHECKING:
    from grader.commands.context import Context

AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4  # as FSRS numbers them
SLOW_FACTOR = 1.5  # times the planned minutes
PAUSE_FACTOR = 4.0  # times the planned minutes without an event: the person was away
MAX_INTERVAL_DAYS = 180
MAX_DAYS_WITHOUT_YEAR = 300  # a day further away is written with its year


def minutes_spent(moments: Sequence[str], planned: int) -> float:
    """Return the minutes from the first to the last of the moments (ISO 8601) of a sitting.

    A pause longer than `PAUSE_FACTOR` times the `planned` minutes counts as the planned minutes,
    and a clock that was set back counts as no time.
    """
    minutes: float = 0
    for before, after in pairwise(map(datetime.fromisoformat, moments)):
        gap = (after - before).total_seconds() / 60
        if gap > PAUSE_FACTOR * planned:
            minutes += planned
        else:
            minutes += max(gap, 0.0)
    return minutes


def total_minutes(question_progress: QuestionProgress, header: Header) -> float:
    """Return the minutes spent on a question in all sittings, the unfinished one included."""
    sittings = [
        sitting for sitting in question_progress.rated_moments if not isinstance(sitting, str)
    ]
    if not question_progress.is_finished:
        sittings.append(question_progress)
    return sum(minutes_spent(sitting.moments, header.minutes) for sitting in sittings)


def rate_sitting(sitting: QuestionProgress, header: Header) -> int:
    """Rate a finished sitting for FSRS, by comparing it with the planned minutes in `header`.

    Difficulties are more failed tries than parts, a hint, and over 1.5 times the planned minutes.
    AGAIN: no pass, or one with all difficulties.  HARD: a pass with some of them.  EASY: a pass in
    the planned time without a failed try.  GOOD: any other pass.
    """
    if not sitting.passed_in_sitting:
        return AGAIN
    minutes = minutes_spent(sitting.moments, header.minutes)
    difficulties = [
        sitting.failed_tries > header.parts,
        sitting.highest_hint > 0,
        minutes > SLOW_FACTOR * header.minutes,
    ]
    if all(difficulties):
        return AGAIN
    if any(difficulties):  # with Hard, FSRS still waits longer than before
        return HARD
    return GOOD if sitting.failed_tries or minutes > header.minutes else EASY


def due_date(ctx: Context, header: Header, question_progress: QuestionProgress) -> date | None:
    """Return the day on which a question comes back; None before a first sitting is finished."""
    if not question_progress.rated_moments:
        return None
    from fsrs import Card, Rating, Scheduler

    # No steps of minutes, which are made for flashcards: a question is not asked twice in a day.
    scheduler = Scheduler(
        learning_steps=(),
        relearning_steps=(),
        maximum_interval=MAX_INTERVAL_DAYS,
        enable_fuzzing=False,
    )
    card = None
    for rated in question_progress.rated_moments:
        moment = _moment(rated).astimezone(UTC)
        if not isinstance(rated, str):
            card = card or Card(0, due=moment)
            rating = Rating(rate_sitting(rated, header))
            card, _ = scheduler.review_card(card, rating, moment)
        elif card:  # a wrong answer never makes a question come back later
            due_before = card.due
            card, _ = scheduler.review_card(card, Rating.Again, moment)
            card.due = min(card.due, due_before)
    return ctx.to_local(card.due).date() if card else None


def _moment(rated: QuestionProgress | str) -> datetime:
    """Return the end of a sitting, or the moment of a wrong answer to a follow-up."""
    return datetime.fromisoformat(rated if isinstance(rated, str) else rated.moments[-1])


def format_day(day: date, today: date) -> str:
    """Return a day as "Nov 22", or as "2027-11-22" if it is 300 days away or more."""
    if abs((day - today).days) < MAX_DAYS_WITHOUT_YEAR:
        return f"{day:%b} {day.day}"
    return day.isoformat()


def due_text(due: date, today: date) -> str:
    """Return when a question is due: "due today", "due since Nov 20", "due Dec 3"."""
    if due == today:
        return "due today"
    day = format_day(due, today)
    return f"due since {day}" if due < today else f"due {day}"


def return_reason(ctx: Context, question_progress: QuestionProgress) -> str:
    """Return why a question comes back: "passed 2 days ago in 3 tries, no hints".

    At least one sitting must be finished.
    """
    last = question_progress.rated_moments[-1]
    days = max((ctx.today - ctx.to_local(_moment(last)).date()).days, 0)
    ago = f"{format_count(days, 'day')} ago" if days else "today"
    if isinstance(last, str):
        return f"a follow-up was answered wrong {ago}"
    if not last.passed_in_sitting:
        return f"{'given up' if last.given_up else 'predicted wrong'} {ago}"
    hints = format_count(last.hints_shown, "hint") if last.hints_shown else "no hints"
    return f"passed {ago} in {format_count(last.tries, 'try', 'tries')}, {hints}"
