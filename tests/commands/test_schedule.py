"""When a question comes back: ratings follow from sittings, days from the ratings."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import pytest

from grader.commands import schedule
from grader.commands.context import Context
from grader.commands.schedule import AGAIN, EASY, GOOD, HARD
from grader.model.question import Header
from grader.records.progress import QuestionProgress

START = datetime(2026, 1, 2, 10, tzinfo=UTC)
HEAD = Header("q", "A question", "track", "core", 20, Path("bank"), parts=2)


@pytest.fixture
def ctx(tmp_path: Path) -> Context:
    return Context(None, tmp_path, lambda: START.isoformat())


def moments(*minutes: float, start: datetime = START) -> list[str]:
    return [(start + timedelta(minutes=at)).isoformat() for at in minutes]


def finished_sitting(
    days_until_due: float = 0.0,
    *,
    minutes: float = 10,
    misses: int = 0,
    hints: int = 0,
    done: bool = True,
) -> QuestionProgress:
    """Return a sitting that was finished some days after the start."""
    at = moments(-minutes, 0, start=START + timedelta(days_until_due))
    return QuestionProgress(
        True,
        tries=misses + 1,
        highest_hint=hints,
        hints_shown=hints,
        failed_tries=misses,
        passed_in_sitting=done,
        is_finished=True,
        moments=at,
    )


@pytest.mark.parametrize(
    ("sitting", "rating"),
    [
        (finished_sitting(), EASY),
        (finished_sitting(minutes=20), EASY),
        (finished_sitting(minutes=21), GOOD),
        (finished_sitting(minutes=30), GOOD),
        (finished_sitting(misses=1), GOOD),
        (finished_sitting(misses=2), GOOD),  # one for each part
        (finished_sitting(misses=3), HARD),
        (finished_sitting(hints=1), HARD),
        (finished_sitting(minutes=31), HARD),
        (finished_sitting(misses=9, hints=9), HARD),
        (finished_sitting(misses=3, hints=1, minutes=31), AGAIN),
        (finished_sitting(done=False), AGAIN),
        (finished_sitting(minutes=-5), EASY),  # the clock went back
        (finished_sitting(minutes=60 * 24), EASY),  # nobody was there: as long as planned
    ],
)
def test_a_rating_follows_from_misses_hints_and_minutes(
    sitting: QuestionProgress, rating: int
) -> None:
    assert schedule.rate_sitting(sitting, HEAD) == rating


def test_due_days_are_those_of_fsrs() -> None:
    from fsrs import Rating

    assert [Rating.Again, Rating.Hard, Rating.Good, Rating.Easy] == [AGAIN, HARD, GOOD, EASY]


@pytest.mark.parametrize(
    ("at", "spent"),
    [
        ((), 0),
        ((0,), 0),
        ((0, 5, 7), 7),
        ((0, 80), 80),
        ((0, 81), 20),  # a pause
        ((0, 5, 1445, 1450), 30),
        ((0, -500, -490), 10),
    ],
)
def test_a_pause_counts_as_the_planned_minutes(at: tuple[int, ...], spent: float) -> None:
    assert schedule.minutes_spent(moments(*at), 20) == spent


def wrong_answer_moment(days_until_due: float) -> str:
    """Return the moment of a wrong answer to a follow-up."""
    return (START + timedelta(days_until_due)).isoformat()


def days_until_due(ctx: Context, *rated: QuestionProgress | str) -> int:
    """Return how many days after the start a question comes back."""
    due = schedule.due_date(ctx, HEAD, QuestionProgress(rated_moments=list(rated)))
    assert due is not None
    return (due - START.date()).days


def test_a_question_comes_back_later_after_a_better_sitting(ctx: Context) -> None:
    again = days_until_due(ctx, finished_sitting(done=False))
    hard = days_until_due(ctx, finished_sitting(hints=1))
    good = days_until_due(ctx, finished_sitting(misses=1))
    easy = days_until_due(ctx, finished_sitting())
    assert 1 == again <= hard < good < easy <= 31


def test_each_pass_waits_longer_and_a_lapse_begins_with_days_again(ctx: Context) -> None:
    rated: list[QuestionProgress | str] = []
    day, waits = 0, []
    for _ in range(4):
        rated.append(finished_sitting(day, misses=1))
        waits.append(days_until_due(ctx, *rated) - day)
        day += waits[-1]
    assert waits == sorted(set(waits))
    assert waits[-1] > 31
    assert days_until_due(ctx, *rated, finished_sitting(day, done=False)) - day < 8


def test_half_a_year_is_the_longest(ctx: Context) -> None:
    assert (
        days_until_due(ctx, finished_sitting(), finished_sitting(400))
        == 400 + schedule.MAX_INTERVAL_DAYS
    )


def test_a_wrong_answer_to_a_follow_up_brings_a_question_back_sooner(ctx: Context) -> None:
    before = days_until_due(ctx, finished_sitting())
    once = days_until_due(ctx, finished_sitting(), wrong_answer_moment(0))
    assert (
        1
        == days_until_due(
            ctx,
            finished_sitting(),
            wrong_answer_moment(0),
            wrong_answer_moment(0),
            wrong_answer_moment(0.1),
        )
        < once
        < before
    )
    assert (
        days_until_due(ctx, finished_sitting(), wrong_answer_moment(before - 0.5)) == before
    )  # and never later
    assert days_until_due(ctx, finished_sitting(), wrong_answer_moment(before + 30)) == before
    assert (
        days_until_due(ctx, wrong_answer_moment(-1), finished_sitting()) == before
    )  # nothing was scheduled yet
    assert days_until_due(
        ctx, finished_sitting(), wrong_answer_moment(0), finished_sitting(once)
    ) < days_until_due(ctx, finished_sitting(), finished_sitting(before))


def test_a_clock_that_went_back_counts_from_the_last_sitting(ctx: Context) -> None:
    assert (
        -300
        < days_until_due(ctx, finished_sitting(misses=1), finished_sitting(-300, misses=1))
        < -200
    )


def test_due_days_follow_the_persons_time_zone(ctx: Context) -> None:
    for hours, day in ((0, 0), (3, 1), (-23, -1)):
        there = timezone(timedelta(hours=hours))
        local = replace(ctx, to_local=partial(datetime.astimezone, tz=there))
        assert (
            days_until_due(local, finished_sitting(0.5, done=False)) == 1 + day
        )  # over at 22:00 UTC
        assert local.today == START.astimezone(there).date()


def test_a_question_is_not_due_before_a_sitting_is_finished(ctx: Context) -> None:
    assert schedule.due_date(ctx, HEAD, QuestionProgress(started=True, tries=3)) is None
    assert (
        schedule.due_date(ctx, HEAD, QuestionProgress(rated_moments=[wrong_answer_moment(0)]))
        is None
    )


@pytest.mark.parametrize(
    ("rated", "text"),
    [
        ([finished_sitting()], "passed today in 1 try, no hints"),
        ([finished_sitting(-2, misses=2, hints=1)], "passed 2 days ago in 3 tries, 1 hint"),
        ([finished_sitting(-1, done=False)], "predicted wrong 1 day ago"),
        ([replace(finished_sitting(-1, done=False), given_up=True)], "given up 1 day ago"),
        (
            [finished_sitting(-9), wrong_answer_moment(-3)],
            "a follow-up was answered wrong 3 days ago",
        ),
        ([finished_sitting(5)], "passed today in 1 try, no hints"),  # the clock went back
    ],
)
def test_the_reason_names_the_last_rated_event(
    ctx: Context, rated: list[QuestionProgress | str], text: str
) -> None:
    assert schedule.return_reason(ctx, QuestionProgress(rated_moments=rated)) == text


@pytest.mark.parametrize(
    ("when", "text"),
    [
        (date(2026, 1, 3), "Jan 3"),
        (date(2025, 12, 30), "Dec 30"),
        (date(2026, 7, 2), "Jul 2"),
        (date(2099, 1, 3), "2099-01-03"),
    ],
)
def test_a_near_day_is_written_without_its_year(when: date, text: str) -> None:
    assert schedule.format_day(when, START.date()) == text
