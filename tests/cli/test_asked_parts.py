"""A question of several parts on the command line: what was not asked yet does not show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Drill

pytestmark = pytest.mark.usefixtures("one_zygote")

BANK = Path(__file__).parents[1] / "banks" / "parts"
ID = "mean-and-spread"
FIRST = "import numpy as np\ndef mean(x):\n    return float(np.mean(x))\n"
SECOND = "def mean(x):\n    return float(x.mean()) if x.size else 0.0\n"


@pytest.fixture
def begun(real: Drill, monkeypatch: pytest.MonkeyPatch) -> Drill:
    """Start the question, and be in its folder."""
    monkeypatch.setenv("DRILL_BANK", str(BANK))
    real("start", ID)
    monkeypatch.chdir(ID)
    return real


def test_a_later_part_shows_when_it_is_asked(begun: Drill) -> None:
    assert "part 1 of 3, 4 min" in begun("start", ID).out
    assert "sends nothing" not in begun("start", ID).out
    assert "sends nothing" not in begun("show", ID).out
    assert "drill show mean-and-spread --all" in begun("show", ID).out
    assert "sends nothing" in begun("show", ID, "--all").out
    assert [row["case"] for row in begun("case", "--json").data["cases"]] == ["few", "many"]
    hidden = begun("case", "nothing")
    assert (hidden.status, hidden.out) == (2, "")
    assert "has no case nothing" in hidden.err
    Path("submission.py").write_text(FIRST)
    begun("grade")
    assert "part 2 of 3, 3 min" in begun("start", ID).out
    assert "  2 The mean of no entries is 0.\n" in begun("start", ID).out
    cases = {row["case"]: row["failing"] for row in begun("case", "--json").data["cases"]}
    assert cases == {"few": False, "many": False, "nothing": False}  # it was not asked then
    begun("grade")
    cases = {row["case"]: row["failing"] for row in begun("case", "--json").data["cases"]}
    assert cases["nothing"] is True
    assert "print(m)" in begun("case", "nothing").out


def test_history_says_what_was_asked_at_the_time(begun: Drill) -> None:
    begun("grade")
    Path("submission.py").write_text(FIRST)
    begun("grade")
    begun("grade")
    Path("submission.py").write_text(SECOND)
    begun("grade")
    rows = [" ".join(line.split()[4:]) for line in begun("history", ID).out.splitlines()[1:-1]]
    assert rows == [
        "1 of 3 FAIL starter, unchanged",
        "1 of 3 PASS",
        "2 of 3 FAIL divides-by-nothing",
        "2 of 3 PASS",
    ]


def test_the_list_and_the_next_step_know_parts(begun: Drill) -> None:
    assert "  0/3 " in begun("list").out
    assert begun("next").out.startswith(f"{ID}   part 1 of 3, begun: not graded yet\n")
    Path("submission.py").write_text(SECOND)
    begun("grade")
    assert "  2/3 " in begun("list").out
    out = begun("next").out
    assert out.startswith(f"{ID}   part 3 of 3, begun: 1 try")
    assert out.endswith("Next: drill grade\n")
