"""A file that passed one part says nothing about the next one until it is edited."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import open_question
from grader.app.context import Context
from grader.app.watching import Watching
from tests.cli.conftest import ROOT, Drill

pytestmark = pytest.mark.usefixtures("one_zygote")
ID, IDEA = "mean-and-spread", "divides-by-nothing"
BANK = ROOT / "tests" / "banks" / "parts"
FILE = Path(ID, "submission.py")
MEAN = "def mean(x):\n    return float(x.sum() / x.size)\n"
BOTH = "def mean(x):\n    return float(x.mean()) if x.size else 0.0\n"
SAME = "This file passed part 1, and has not changed since: below is a symptom"


@pytest.fixture
def drill(real: Drill, monkeypatch: pytest.MonkeyPatch) -> Drill:
    monkeypatch.setenv("DRILL_BANK", str(BANK))
    return real


def passed(drill: Drill, *words: str) -> str:
    """Begin, and return the page of a grade that passes part 1."""
    drill(*(words or ("start", ID)))
    FILE.write_text(MEAN)
    return drill("grade", ID).out


def test_nothing_of_the_next_part_is_explained_or_counted_before_an_edit(drill: Drill) -> None:
    assert "Next: edit submission.py, then drill grade\n" in passed(drill)
    for text in (MEAN, f"# a remark\n\n{MEAN.replace(':', ':  ')}"):
        FILE.write_text(text)
        page = " ".join(drill("grade", ID).out.split())
        assert SAME in page
        assert "part 2 of 3 seed" in page
        assert IDEA not in page
        assert "NaN" not in page
        assert "drill grade --explain" in page.replace(f" {ID}", "")
    assert IDEA in drill("grade", ID, "--explain").out
    rows = drill("history", "--json").data["attempts"]
    assert [(row["parts"], row["ideas"]) for row in rows[1:]] == [(["unchanged"], [])] * 3
    assert "unchanged since the pass" in drill("history").out
    assert [
        one["tries"] for one in drill("list", "--json").data["questions"] if one["id"] == ID
    ] == [1]
    assert drill("progress", "--json").data["ideas"] == []
    assert "no try at it yet" in drill("next").out
    assert drill("case", "nothing", ID).status == 0
    FILE.write_text(f"{MEAN}N = 1\n")
    page = drill("grade", ID).out
    assert IDEA in page
    assert "try 2" in page.replace("\xa0", " ")
    FILE.write_text(MEAN)
    assert SAME in " ".join(drill("grade", ID).out.split())


def test_part_three_keeps_its_secrets_too(drill: Drill) -> None:
    passed(drill)
    spread = "\n\ndef spread(x):\n    return float(((x - mean(x)) ** 2).mean())\n"
    FILE.write_text(BOTH + spread)
    assert "def spread(x):" in drill("grade", ID).out  # the signature of part 3
    page = " ".join(drill("grade", ID).out.split())
    assert SAME.replace("part 1", "part 2") in page
    assert "variance" not in page


def test_a_fault_in_a_part_that_was_passed_is_explained(drill: Drill) -> None:
    passed(drill)
    FILE.write_text(MEAN.replace("x.sum() / x.size", "x.sum()"))
    assert "sums" in drill("grade", ID).out


@pytest.mark.parametrize("blind", [(), ("--blind",)])
def test_an_interview_counts_no_try_of_a_part_before_an_edit(
    drill: Drill, blind: tuple[str, ...]
) -> None:
    passed(drill, "interview", ID, *blind)
    drill("interview", "next") if blind else None
    drill("grade", ID)
    drill("interview", "end")
    found = drill("interview", "debrief", "--json").data["questions"][0]
    assert [part[4] for part in found["parts"]] == [1, 0, 0]
    assert found["ideas"] == []


def test_watch_and_a_notebook_show_only_a_symptom(drill: Drill, tmp_path: Path) -> None:
    passed(drill)
    ctx = Context(Path.cwd(), tmp_path / "home", lambda: "2026-01-02T03:04:05+00:00", BANK)
    with Watching(ctx, ID) as watched:
        watched.look()
        assert watched.graded is not None
        assert (watched.graded.unchanged_since, watched.graded.tries) == (1, 0)
    with open_question(ID, bank=BANK) as question:
        assert "part 2 of 3" in str(question.grade(MEAN))
        again = question.grade(MEAN)
        assert SAME in " ".join(str(again).split())
        assert again.report.misconceptions == ()
        assert IDEA in str(question.grade(f"{MEAN}N = 1\n"))
