"""The page of how practice goes: one screen, whatever the terminal can show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta

import pytest

from grader.reports import text_layout
from grader.reports.blocks import render_terminal, render_text
from grader.reports.practice import (
    BLOCKS,
    CHARACTERS,
    ROWS,
    PracticeIdea,
    PracticeSummary,
    TrackProgress,
    first_day,
    practice_page,
)

TODAY = date(2026, 11, 26)  # a Thursday
STEPS = ("drill next",)


def drawn(practice: PracticeSummary, marks: str = BLOCKS, width: int = 80) -> list[str]:
    lines = render_terminal(list(practice_page(practice, STEPS, marks)), width, rows=ROWS)
    return [text_layout.without_styles(line) for line in lines]


def days(**tries: int) -> Mapping[date, int]:
    """Days of 2026 with their tries, by names like nov_26."""
    months = dict(jan=1, feb=2, nov=11)
    return {date(2026, months[name[:3]], int(name[4:])): count for name, count in tries.items()}


SOME = PracticeSummary(
    TODAY,
    (
        TrackProgress("memory", 6, 3, 2, 1, 130),
        TrackProgress("numerics", 2, 0, 0, 0, 0),
        TrackProgress("conv", 1, 1, 1, 0, 0),
    ),
    (PracticeIdea("copy-to-all", "maxpool", 3), PracticeIdea("overwrite", "adam", 1)),
    days(jan_5=1, nov_23=2, nov_24=3, nov_25=6, nov_26=12),
)


def test_the_page_has_passed_and_due_questions_and_the_most_frequent_ideas() -> None:
    lines = drawn(SOME)
    assert lines[0] == "3 of 9 passed, 1 due for review; 2 hours spent"
    assert "memory     2/6    1  130" in lines
    assert "conv       1/1         0" in lines
    assert "Not begun: numerics" in lines
    assert "copy-to-all          3  maxpool" in lines
    assert lines[-1] == "Next: drill next"
    assert len(lines) <= ROWS


def test_a_day_has_a_mark_by_its_tries_in_the_column_of_its_week() -> None:
    lines = drawn(SOME)
    at = next(n for n, line in enumerate(lines) if line.startswith("Mon "))
    week = [line[4:57].ljust(53) for line in lines[at : at + 7]]
    assert [row[52] for row in week] == ["░", "▒", "▓", "█", " ", " ", " "]
    assert [row.count("░") for row in week] == [2, 0, 0, 0, 0, 0, 0]  # jan_5 is a Monday
    assert {*"".join(week)} == {*BLOCKS, " "}
    months = lines[at - 1][4:]
    assert months[week[0].index("░") :].startswith("Jan ")
    assert lines[at].endswith("24 tries; per day:")


def test_the_year_of_the_calendar_begins_on_a_monday() -> None:
    for back in range(7):
        today = TODAY - timedelta(back)
        first = first_day(today)
        assert first.weekday() == 0
        assert 364 <= (today - first).days <= 370


def test_a_terminal_without_block_characters_gets_ascii() -> None:
    lines = drawn(SOME, CHARACTERS)
    assert all(line.isascii() for line in lines)
    assert any(line.endswith("# 10 or more") for line in lines)


@pytest.mark.parametrize("width", [60, 72, 79, 80, 120])
@pytest.mark.parametrize("tracks", [0, 3, 7, 20])
def test_the_page_fits_a_screen(width: int, tracks: int) -> None:
    name = "pooling-and-convolution-{}"
    many = tuple(
        TrackProgress(name.format(n), 40, n + 1, n, n % 3, 1000 * n) for n in range(tracks)
    )
    ideas = tuple(PracticeIdea(f"some-long-idea-{n}", name.format(n), 99) for n in range(9))
    for practice in (
        replace(SOME, tracks=many, ideas=ideas),
        replace(SOME, tracks=(*many, TrackProgress("idle", 3, 0, 0, 0, 0)), ideas=()),
        replace(SOME, tracks=many, ideas=(), days={}),
    ):
        lines = drawn(practice, width=width)
        assert len(lines) <= ROWS
        assert max(map(text_layout.display_width, lines)) <= width
        assert lines[-1] == "Next: drill next"
    if tracks == 20:
        assert any(line.startswith("and ") and line.endswith(" more") for line in lines)


def test_a_page_read_aloud_has_counts_per_month() -> None:
    said = render_text(practice_page(SOME, STEPS), aloud=True).splitlines()
    assert "January 2026: 1 try on 1 day." in said
    assert "November 2026: 23 tries on 4 days." in said
    assert "held most often copy-to-all, tries 3, question maxpool" in said
    assert not {*BLOCKS[1:]} & {*"".join(said)}


def test_without_any_try_the_page_has_only_counts() -> None:
    empty = replace(SOME, tracks=(TrackProgress("memory", 6, 0, 0, 0, 0),), ideas=(), days={})
    assert drawn(empty) == ["0 of 6 passed, 0 due for review", "", "Next: drill next"]
