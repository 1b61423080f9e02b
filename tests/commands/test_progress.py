"""`drill progress`, from grades to the page."""

from __future__ import annotations

import io
import sys
from datetime import datetime
from pathlib import Path

import pytest

from grader.commands import output
from tests.commands.conftest import ROOT, Drill

pytestmark = pytest.mark.usefixtures("one_zygote")
FILE = Path("mean-and-spread/submission.py")
MEAN = "def mean(x):\n    return float(x.sum() / x.size)\n"


def test_progress_counts_tries_and_names_ideas_of_asked_parts(
    real: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILL_BANK", str(ROOT / "tests" / "banks" / "parts"))
    noon = datetime(2026, 3, 1, 12).astimezone()
    monkeypatch.setattr("grader.commands.options.now", noon.isoformat)
    real("start", "mean-and-spread")
    FILE.write_text(MEAN)
    assert "Now write part 2" in real("grade").out  # in which it divides by nothing
    real("grade")
    data = real("progress", "--json").data
    assert data["ideas"] == []
    assert data["days"] == {"2026-03-01": 1}
    assert sum(track["begun"] for track in data["tracks"]) == 1
    for number in (1, 2):
        FILE.write_text(MEAN.replace("x.size", f"x.size * {number} / {number}"))
        real("grade")
    data = real("progress", "--json").data
    idea = {"name": "divides-by-nothing", "question": "mean-and-spread", "tries": 2}
    assert data["ideas"] == [idea]
    page = real("progress").out
    assert "divides-by-nothing      2  mean-and-spread" in page
    assert "3 tries; per day:" in page
    assert page.endswith("Next: drill next\n")
    assert len(page.splitlines()) <= 22


def test_the_page_uses_only_characters_that_the_output_can_encode(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for encoding, able in (("utf-8", True), ("ascii", False), ("latin-1", False)):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding))
            assert output.can_show("·░▒▓█") is able
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)  # closed
        assert not output.can_show("█")
