"""Promises of pages: no answer before its part, no idea that was not shown, commands to paste."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import Drill

ROOT = Path(__file__).parents[2]
PARTS = "mean-and-spread"
FILE = Path(PARTS, "submission.py")
MEAN = "def mean(x):\n    return x.sum() / x.size\n"


@pytest.fixture
def parts(real: Drill, monkeypatch: pytest.MonkeyPatch) -> Drill:
    monkeypatch.setenv("DRILL_BANK", str(ROOT / "tests" / "banks" / "parts"))
    real("start", PARTS)
    return real


def test_no_page_names_an_idea_of_a_part_that_was_not_asked(parts: Drill) -> None:
    parts("grade")  # the starter holds an idea that its page keeps back
    pages = [parts("next").out, parts("list").out, parts("history").out]
    FILE.write_text(MEAN)
    assert "divides-by-nothing" in str(parts("grade", "--json").data["misconceptions"])
    pages += [parts("next").out, parts("list").out, parts("history").out]
    pages.append(parts("history", "--json").out)
    assert not [idea for idea in ("sums", "divides-by-nothing") for page in pages if idea in page]
    FILE.write_text(MEAN.replace("x.size", "float(x.size)"))
    parts("grade")  # now it is asked and tried, and the page names it
    assert "part 2 of 3, begun: 1 try; last idea divides-by-nothing" in parts("next").out


def test_the_reason_for_an_unfinished_question_counts_tries_of_the_current_part(
    parts: Drill,
) -> None:
    def reason() -> str:
        parts("grade")
        return str(parts("next", "--json").data["next"]["reason"])

    assert reason() == "part 1 of 3, begun: only the starter was graded"
    FILE.write_text("def mean(")
    assert reason() == "part 1 of 3, begun: only the starter was graded"
    for tries in ("1 try", "2 tries"):
        FILE.write_text(f"# {tries}\ndef mean(x):\n    return x[0]\n")
        assert reason().startswith(f"part 1 of 3, begun: {tries}")
    FILE.write_text(MEAN)
    assert reason() == "part 2 of 3, begun: no try at it yet"


def test_history_shows_one_idea_for_each_try(parts: Drill) -> None:
    FILE.write_text(MEAN.replace("/ x.size", ""))
    parts("grade")
    assert parts("history", "--json").data["attempts"][0]["ideas"] == ["sums"]
    assert len(parts("next").out.splitlines()[0]) <= 80


def test_a_history_says_what_could_not_be_read(parts: Drill) -> None:
    for text in ("def mean(", "", "1 / 0\n", MEAN):
        FILE.write_text(text)
        parts("grade")
    page = parts("history").out
    assert "SyntaxError" not in page
    assert "a syntax error" in page
    assert "loading the file raised" in page
    assert "the file is empty" in page


def test_plain_pages_do_not_cut_titles(drill: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert "title The sum that came out too large," in drill("list", "--plain").out
