"""What is said about the keys of measurements: timed cases, large ones, forbidden calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bank.specs import edited, problems

TIMED = "  - {id: speed, kind: performance, at_most: 2, cases: CASES}\nmisconceptions:"
KEPT = (
    "  - {id: kept, kind: state, of: ctx, at_most: 8, cases: small, large: CASE}\nmisconceptions:"
)


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        (
            ("misconceptions:", TIMED.replace("CASES", "[fixed]"),
             "  wide: {", "  fixed: {x: [[1.0]], factor: 3, grad_y: [[1.0]]}\n  wide: {"),
            "speed: expected inputs that are drawn, found only fixed ones in case fixed: "
            "remembering the answer would be fast",
        ),
        (
            ("misconceptions:", KEPT.replace("CASE", "wid")),
            "kept: expected the name of a case, found 'wid'; did you mean 'wide'?",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_said(tmp_path: Path, edits: tuple[str, ...], said: str) -> None:
    assert any(said in problem for problem in problems(tmp_path, edited(*edits)))


@pytest.mark.parametrize(
    "edits",
    [
        ("misconceptions:", TIMED.replace("CASES", "[small, wide]")),
        ("misconceptions:", KEPT.replace("CASE", "wide")),
    ],
)
def test_what_can_be_measured_is_accepted(tmp_path: Path, edits: tuple[str, ...]) -> None:
    assert problems(tmp_path, edited(*edits)) == []
