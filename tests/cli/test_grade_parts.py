"""A person's way through a question in parts: one is asked when the one before it passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Drill

pytestmark = pytest.mark.usefixtures("one_zygote")

BANK = Path(__file__).parents[1] / "banks" / "parts"
ID = "mean-and-spread"
FOLDER = Path(ID)
MEAN = "def mean(x):\n    return float(x.sum() / x.size)\n"
WHOLE_MEAN = "def mean(x):\n    return float(x.sum() / x.size) if x.size else 0.0\n"
SPREAD = "def spread(x):\n    return float(x.std())\n"


@pytest.fixture
def drill(real: Drill, monkeypatch: pytest.MonkeyPatch) -> Drill:
    """Call the command line with the bank of questions in parts."""
    monkeypatch.setenv("DRILL_BANK", str(BANK))
    return real


def write(source: str) -> None:
    (FOLDER / "submission.py").write_text(source, encoding="utf-8")


def question() -> str:
    return (FOLDER / "QUESTION.md").read_text(encoding="utf-8")


def test_from_the_first_part_to_the_last(drill: Drill) -> None:
    started = drill("start", ID).out
    assert "part 1 of 3, 4 min" in started
    assert "sends nothing at all" not in started + question()
    failed = drill("grade")
    assert failed.status == 1
    assert "starter, unchanged" in failed.out
    assert "Idea: sums" in drill("grade", "--explain").out

    write(MEAN)
    first = drill("grade")
    assert first.status == 1
    assert " ".join(first.out.split()).startswith(
        f"PASS {ID}/submission.py {ID}, part 1 of 3 try 3"
    )
    assert "50 of 100 points" in first.out
    assert "Part 2 of 3, 3 minutes, 30 points. The interviewer:" in first.out
    assert "One worker now sends nothing at all." in first.out
    assert "2 The mean of no entries is 0." in first.out
    assert "NaN" not in first.out
    assert "One worker now sends nothing at all." in question()
    assert "how far the entries are" not in question()

    again = drill("grade")  # the part has been asked: now what fails in it is shown
    assert again.status == 1
    assert "m is NaN, expected 0" in again.out
    assert "divides-by-nothing" in again.out

    write(WHOLE_MEAN)
    second = drill("grade").out
    assert " ".join(second.split()).startswith(f"PASS {ID}/submission.py {ID}, part 2 of 3 try ")
    assert "80 of 100 points" in second
    assert "expected spread" not in second
    assert "expected spread, found mean" in drill("grade").out

    write(WHOLE_MEAN + SPREAD)
    last = drill("grade")
    assert last.status == 0
    assert "all 3 parts" in last.out
    assert "100 of 100 points; 5 checks" in last.out
    assert "passed" in drill("list").out


def test_notes_in_the_question_are_kept(drill: Drill) -> None:
    drill("start", ID)
    (FOLDER / "QUESTION.md").write_text("my notes\n", encoding="utf-8")
    (FOLDER / "QUESTION.before-1.md").write_text("older ones\n", encoding="utf-8")
    write(MEAN)
    drill("grade")
    assert question().count("\n## Part ") == 2
    assert (FOLDER / "QUESTION.before-1.md").read_text(encoding="utf-8") == "older ones\n"
    assert (FOLDER / "QUESTION.before-2.md").read_text(encoding="utf-8") == "my notes\n"
    (FOLDER / "QUESTION.md").write_text("more\n", encoding="utf-8")
    drill("grade")  # nothing new is asked, so it is nobody's to write
    assert question() == "more\n"


def test_a_question_that_cannot_be_written_stops_no_grade(drill: Drill, tmp_path: Path) -> None:
    drill("start", ID)
    (FOLDER / "QUESTION.md").unlink()
    (FOLDER / "QUESTION.md").symlink_to(tmp_path / "elsewhere")
    write(MEAN)
    ended = drill("grade")
    assert "part 1 of 3" in ended.out
    assert "QUESTION.md stays as it was" in ended.err
    assert not (tmp_path / "elsewhere").exists()


def test_hints_are_those_of_the_parts_that_are_asked(drill: Drill) -> None:
    drill("start", ID)
    assert "hint 1 of 2\n    What do you divide by?" in drill("hint").out
    write(MEAN)
    drill("grade")
    assert "hint 3 of 3\n    What is 0 / 0?" in drill("hint").out
    every = drill("hint", "--json").data
    assert ([h["number"] for h in every["hints"]], every["left"]) == ([1, 2, 3], 0)
    assert "hint 2 of 3" in drill("hint", "--number", "2").out
    assert drill("hint", "--number", "4").status == 2


def test_a_question_is_shown_as_far_as_one_is(drill: Drill) -> None:
    new = drill("show", ID)
    assert "sends nothing" not in new.out
    assert f"drill show {ID} --all" in new.out
    assert "how far the entries are" in drill("show", ID, "--all").out
    plain = drill("show", ID, "--json").data
    assert [p["id"] for p in plain["parts"]] == ["1"]
    assert (plain["parts_in_all"], plain["minutes"], plain["hints"]) == (3, 9, 2)
    assert [c["id"] for c in plain["parts"][0]["checks"]] == ["mean"]
    assert plain["functions"] == ["mean"]
    drill("start", ID)
    write(MEAN)
    drill("grade")
    assert [p["id"] for p in drill("show", ID, "--json").data["parts"]] == ["1", "2"]
    assert len(drill("show", ID, "--json", "--all").data["parts"]) == 3
    fresh = drill("start", ID, "--dir", "again").out  # the page goes with the starter
    assert "part 1 of 3" in fresh
    assert "sends nothing" not in fresh
    written = (Path("again") / ID / "QUESTION.md").read_text(encoding="utf-8")
    assert "sends nothing" in written  # and the file has what is asked so far
    assert written.count("\n## Part ") == 2
    again = drill("start", ID, "--dir", "again").out  # a version that is one's own
    assert "part 2 of 3" in again
    assert "sends nothing at all" in again


def test_parts_that_count_are_named(drill: Drill) -> None:
    drill("start", ID)
    write(MEAN)
    assert drill("grade", "--parts", "1").status == 0
    rows = {row["id"]: row for row in drill("list", "--json").data["questions"]}
    assert rows[ID]["state"] == "tried"
    assert "part 2 is" not in drill("solution").out
    assert drill("solution").status == 2
    assert drill("grade", "--parts", "1,2").status == 1
    assert drill("grade", "--parts", "spread, 1").status == 1
    report = drill("grade", "--parts", "1", "--json").data
    assert [p["of"] for p in report["parts"]] == [50, 0, 0]
    again = drill("grade", "--parts", "2").out
    assert f"FAIL {ID}/submission.py {ID}, part 2 of 3" in " ".join(again.split())


@pytest.mark.parametrize("parts", ["4", "0", "", "1,", "x", "-1", "1;2"])
def test_other_parts_there_are_none(drill: Drill, parts: str) -> None:
    drill("start", ID)
    ended = drill("grade", "--parts", parts)
    assert ended.status == 2
    assert (
        f"--parts: expected numbers from 1 to 3, separated by commas, found {parts!r}" in ended.err
    )


def test_another_file_is_judged_whole(drill: Drill) -> None:
    """It is no try, so that nothing is asked one part after another."""
    drill("start", ID)
    Path("other.py").write_text(MEAN, encoding="utf-8")
    found = drill("grade", ID, "--file", "other.py").out
    assert "m is NaN, expected 0" in found
    assert question().count("\n## Part ") == 1


def test_without_records_nothing_is_held_back(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    drill("start", ID)
    write(MEAN)
    monkeypatch.setenv("DRILL_HOME", "/proc/nowhere")
    assert "m is NaN, expected 0" in drill("grade", f"./{ID}").out
