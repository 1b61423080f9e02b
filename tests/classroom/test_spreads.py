"""Bars of a class: none is lost, and the edges lie where they are said to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from grader.classroom import spreads
from grader.model.findings import Spread

START = datetime(2026, 11, 18, 22, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)


def counts(spread: Spread) -> dict[str, int]:
    return {one.label: one.count for one in spread.counts if one.count}


def test_two_to_ten_days_are_counted_by_day_of_the_deadlines_offset() -> None:
    times = [START, START + HOUR, START + 30 * HOUR]
    utc = spreads.intervals(times, "")
    assert utc is not None
    assert utc.labels == ("Nov 18", "Nov 19", "Nov 20")
    assert [utc.of(at) for at in times] == [0, 0, 2]
    there = spreads.intervals(times, "2026-11-20T23:59:00+02:00")
    assert there is not None
    assert (there.labels, [there.of(at) for at in times]) == (("Nov 19", "Nov 20"), [0, 0, 1])


@pytest.mark.parametrize("hours", [1, 20, 24 * 11, 24 * 200])
def test_anything_else_is_in_ten_equal_parts(hours: int) -> None:
    start = START.replace(hour=1)
    times = [start, start + hours * HOUR / 2, start + hours * HOUR]
    parts = spreads.intervals(times, "")
    assert parts is not None
    assert len(parts.labels) == len(set(parts.labels)) == 10
    assert [parts.of(at) for at in times] == [0, 5, 9]


def test_one_moment_is_one_interval_and_nothing_is_none() -> None:
    parts = spreads.intervals([START, START], "")
    assert parts is not None
    assert len(parts.labels) == 1
    assert spreads.intervals([], "") is None


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "1980-01-01T00:00:00"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert spreads.moment(text) is None


def test_times_without_an_offset_are_utc() -> None:
    assert spreads.moment("2026-11-18T22:30:00") == START
    assert spreads.moment("2026-11-18T22:30:00Z") == START


def test_all_of_the_points_are_a_bar_of_their_own() -> None:
    found = counts(spreads.shares("", [0, 0.05, 0.1, 0.3, 0.999, 1.0]))
    assert found == {"0 to 10 %": 2, "10 to 20 %": 1, "30 to 40 %": 1, "90 to 100 %": 1, "100 %": 1}


def test_points_are_shown_as_they_are_where_there_are_few() -> None:
    assert counts(spreads.points("", [0, 6, 6], 10)) == {"0": 1, "6": 2}
    labels = [one.label for one in spreads.points("", [6], 10).counts]
    assert labels == ["0", "6", "10"]
    assert counts(spreads.points("", list(range(100)), 100))["90 to 100 %"] == 10


def test_seconds_and_their_middle() -> None:
    spread = spreads.seconds("", [0.3, 0.4, 0.1, 300.0])
    assert counts(spread) == {"under 0.2 s": 1, "under 0.5 s": 2, "120 s and more": 1}
    assert spread.note.startswith("median 0.35 s")


def test_a_deadline_divides_what_is_late() -> None:
    end = "2026-11-20T22:30:00+00:00"
    deadline = datetime.fromisoformat(end)
    times = [deadline, deadline + timedelta(seconds=1), deadline - 30 * HOUR, deadline + 25 * HOUR]
    spread = spreads.against("", times, end, None)
    assert counts(spread) == {
        "in the last hour": 1, "up to an hour late": 1, "1 to 3 days before": 1,
        "more than a day late": 1,
    }  # fmt: skip
    assert "2 files late" in spread.note
