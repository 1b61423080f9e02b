"""Numbers with their nouns, times with their units."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.app.requirements import GET_TORCH
from grader.cli import context
from grader.model.numerals import quantity, span


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        (-3, "0 minutes"),
        (0.6, "1 minute"),
        (119, "119 minutes"),
        (121, "2 hours"),
        (47 * 60, "47 hours"),
        (60 * 24 * 3, "3 days"),
    ],
)
def test_a_span_of_time(minutes: float, expected: str) -> None:
    assert span(minutes) == expected


def test_quantities() -> None:
    assert quantity(1, "try", "tries") == "1 try"
    assert quantity(2, "try", "tries") == "2 tries"
    assert quantity(1_000_000, "byte") == "1,000,000 bytes"


def test_times_that_are_none() -> None:
    assert context.minutes_since("") is None
    assert context.minutes_since("2025-11-20T21:00:00") is None
    assert context.minutes_since(context.now()) is not None
    assert context.local_time("yesterday") == "yesterday"


def test_the_torch_that_is_advised_is_the_one_that_is_tested() -> None:
    constraints = Path(__file__).parents[2] / "constraints.txt"
    (pinned,) = (line for line in constraints.read_text().splitlines() if line.startswith("torch="))
    assert GET_TORCH.startswith(f"pip install {pinned} ")
