"""Interviews from their beginning to the debrief, on a clock that is moved."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import date, datetime, time, timedelta
from pathlib import Path

import pytest

from tests.commands.conftest import ROOT, CommandResult, Drill
from tests.commands.on_terminal import OnTerminal

ONE, TWO = "mean-and-spread", "second-mean"
GOLDEN = Path(__file__).parent / "golden"
SUM = "def mean(x):\n    return float(x.sum())\n"
MEAN = "def mean(x):\n    return x.sum() / x.size\n"
BOTH = "def mean(x):\n    return float(x.mean()) if x.size else 0.0\n"
ALL = f"import numpy as np\n{BOTH}\n\ndef spread(x):\n    return float(np.std(x))\n"
Compare = Callable[[str, str], None]


class Clock:
    """A clock on a wall that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = datetime.combine(date(2026, 3, 1), time(12)).astimezone()

    def __call__(self) -> str:
        return self.at.isoformat()

    def pass_(self, minutes: float) -> None:
        self.at += timedelta(minutes=minutes)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("grader.commands.options.now", clock)
    return clock


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bank of two questions in three parts, each of 9 minutes."""
    bank = tmp_path / "bank"
    source = ROOT / "tests" / "banks" / "parts" / "questions" / f"{ONE}.yaml"
    text = source.read_text(encoding="utf-8")
    (bank / "questions").mkdir(parents=True)
    (bank / "questions" / f"{ONE}.yaml").write_text(text)
    text = text.replace("level: warm-up", "level: core\nroles: [kernels]")
    (bank / "questions" / f"{TWO}.yaml").write_text(text.replace("Three answers", "Two answers"))
    monkeypatch.setenv("DRILL_BANK", str(bank))
    return bank


@pytest.fixture
def drill(real: Drill, bank: Path, clock: Clock) -> Drill:
    assert bank.exists()
    assert clock()
    return real


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Compare:
    """Compare a text with the snapshot of that name."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8", newline="\n")
        assert text == path.read_text(encoding="utf-8")

    return compare


def write(text: str, question: str = ONE) -> None:
    Path(question, "submission.py").write_text(text)


def one_line(result: CommandResult) -> str:
    return " ".join(f"{result.out} {result.err}".split())


def hold_interview(drill: Drill, clock: Clock) -> None:
    """Go through an interview of 45 minutes: one question passes, one does not."""
    drill("interview", ONE, TWO)
    for minutes, text in (
        (4, SUM),
        (5, SUM + "\n"),
        (3, MEAN),
        (2, MEAN.replace("x.size", "len(x)")),
        (6, BOTH),
    ):
        clock.pass_(minutes)
        write(text)
        drill("grade", ONE)
        drill("grade", ONE)  # a version is one try
        if text == MEAN:
            drill("hint", ONE)
    clock.pass_(4)
    write(ALL)
    assert "Next: drill interview" in drill("grade", ONE).out
    clock.pass_(1)
    assert "Question 2 of 2" in drill("interview").out
    clock.pass_(8)
    write(SUM, TWO)
    drill("grade", TWO)
    clock.pass_(20)


def test_an_interview_of_45_minutes_and_its_debrief(
    drill: Drill, clock: Clock, golden: Compare
) -> None:
    hold_interview(drill, clock)
    write(ALL, TWO)
    late = drill("grade", TWO).out  # a grade after the end is practice
    assert "The interview is over, and its debrief is there." in late
    assert "Next: drill interview" in late
    page = drill("interview").out
    assert max(map(len, page.splitlines())) <= 80
    golden("debrief_80.txt", page)
    for name in ("debrief.md", "debrief.html"):
        assert drill("interview", "debrief", "1", "--out", name).status == 0
        text = Path(name).read_text(encoding="utf-8")
        golden(name, text.partition("<main")[2].partition(">")[2] or text)
    document = drill("interview", "debrief", "--json").data
    first, second = document["questions"]
    minutes = [part[3] for part in first["parts"]]
    assert minutes == pytest.approx([12, 8, 4])
    assert [part[4] for part in first["parts"]] == [3, 2, 1]
    assert {idea[0]: round(idea[1]) for idea in first["ideas"]} == {
        "sums": 8, "divides-by-nothing": 6,
    }  # fmt: skip
    assert (first["hints"], second["ideas"][0][0], second["parts"][0][3]) == (1, "sums", 20)


def test_ideas_are_kept_for_the_debrief(drill: Drill, clock: Clock) -> None:
    drill("interview", ONE)
    write(SUM)
    for words in (("grade",), ("grade", "--full"), ("grade", "--json"), ("next",), ("history",)):
        page = one_line(drill(*words, *[ONE] * (words[0] == "grade")))
        assert "You give the sum" not in page, words
        assert "sums" not in page, words
    assert "45 of 45 minutes left" in drill("grade", ONE).out
    clock.pass_(0.2)
    assert "FAIL" in drill("grade", ONE).out
    drill("interview", "end")
    assert "You give the sum" in drill("grade", ONE).out


def blind_outputs(drill: Drill, text: str) -> dict[tuple[str, ...], str]:
    """Return the output of every command that could show a verdict in a blind interview."""
    drill("interview", ONE, "--blind")
    write(text)
    drill("grade", ONE)
    Path("other.py").write_text(text)
    words: tuple[tuple[str, ...], ...] = (
        ("grade", ONE), ("grade", ONE, "--json"), ("grade", ONE, "--full", "--explain"),
        ("grade", ONE, "--parts", "1"), ("grade", ONE, "--file", "other.py"),
        ("case",), ("case", "few"), ("solution", ONE), ("discuss", ONE), ("discuss", ONE, "--all"),
        ("history",), ("history", "--all", "--json"), ("list",), ("list", "--json"), ("next",),
        ("progress",), ("progress", "--json"), ("show", ONE), ("show", ONE, "--json"),
        ("start", ONE), ("start", ONE, "--again"), ("interview",), ("interview", "--json"),
        ("interview", "debrief"), ("hint", ONE), ("grade", ONE, "--html", "x.html"),
    )  # fmt: skip
    results = {
        command: (drill(*command), Path(ONE, "QUESTION.md").read_text()) for command in words
    }
    return {command: f"{e.status} {e.out} {e.err} {q}" for command, (e, q) in results.items()}


def test_a_blind_interview_shows_the_same_for_a_right_and_a_wrong_file(
    drill: Drill, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    outputs: list[dict[tuple[str, ...], str]] = []
    for text in (ALL, MEAN + "# " + "x" * (len(ALL) - len(MEAN) - 3) + "\n"):
        monkeypatch.setattr("os.urandom", lambda n: b"1" * n)  # all seeds are the same
        monkeypatch.setenv("DRILL_HOME", str(tmp_path / f"home{len(outputs)}"))
        shutil.rmtree(ONE, ignore_errors=True)
        outputs.append(blind_outputs(drill, text))
    right, wrong = outputs
    for words, text in right.items():
        mine, other = (
            [line for line in one.replace(f"home{n}", "home").splitlines() if "sha256" not in line]
            for n, one in enumerate((text, wrong[words]))
        )
        assert mine == other, words
    assert "submission.py is received. It loads." in right["grade", ONE]
    assert "SEALED" in right["history",]
    assert "x.html is not written before the end." in " ".join(
        right["grade", ONE, "--html", "x.html"].split()
    )


def test_commands_without_an_id_are_about_the_question_that_is_asked(
    drill: Drill, clock: Clock
) -> None:
    drill("start", TWO)
    drill("interview", ONE)
    assert ONE in one_line(drill("hint", "--json"))
    write(ALL)
    drill("grade")
    drill("interview", "end")
    drill("hint").refused("2 drills are in this folder")
    drill("start", ONE, "--again")
    assert "To review: now, as it is begun again." in one_line(drill("interview", "debrief"))
    assert clock()


def test_in_a_blind_interview_the_candidate_asks_for_the_next_part(
    drill: Drill, clock: Clock
) -> None:
    drill("interview", ONE, TWO, "--blind")
    clock.pass_(5)
    write(ALL)
    assert drill("grade", ONE).status == 0
    write("def mean(x)\n")
    assert "received. The file is not valid Python at line 1" in one_line(drill("grade", ONE))
    clock.pass_(1)
    assert "One worker now sends nothing" in one_line(drill("interview", "next"))
    assert "hint 1 of 1 of part 2" in drill("hint", ONE).out
    clock.pass_(2)
    assert "Add how far the entries" in one_line(drill("interview", "next"))
    assert "Add how far" in Path(ONE, "QUESTION.md").read_text()
    clock.pass_(2)
    assert "Question 2 of 2" in one_line(drill("interview", "next"))
    clock.pass_(1)
    drill("interview", "end")
    question = drill("interview", "debrief", "--json").data["questions"][0]
    assert [(part[2], part[3]) for part in question["parts"]] == [(True, 6), (True, 2), (True, 2)]
    assert "3/3" in drill("list").out
    write(ALL)
    assert "PASS" in drill("grade", ONE).out


def test_the_next_command_continues_an_interview_that_was_stopped(
    drill: Drill, clock: Clock, home: Path
) -> None:
    drill("interview", ONE, TWO)
    clock.pass_(10)
    shutil.rmtree(ONE)  # the machine lost it
    drill("interview").refused("has no folder here")
    drill("start", ONE)
    assert "35 of 45 minutes left" in one_line(drill("interview"))
    write(ALL)
    drill("grade", ONE)
    # A kill between the folder of the second question and the moment it was asked.
    with closing(sqlite3.connect(home / "drill.sqlite3")) as db:
        count = "SELECT count(*) FROM events WHERE what = 'asked'"
        assert db.execute(count).fetchone() == (1,)
    drill("start", TWO)
    assert "Question 2 of 2" in one_line(drill("interview"))
    assert "Question 2 of 2" in one_line(drill("interview"))
    with closing(sqlite3.connect(home / "drill.sqlite3")) as db:
        assert db.execute(count).fetchone() == (2,)


def test_a_question_that_was_passed_begins_from_its_starter(drill: Drill, clock: Clock) -> None:
    drill("start", ONE)
    write(ALL)
    drill("grade", ONE)
    clock.pass_(60 * 24)
    drill("interview", ONE)
    assert "total += entry" in Path(ONE, "submission.py").read_text()
    assert "part 1 of 3" in drill("grade", ONE).out
    assert Path(ONE, "submission.before-again-1.py").read_text() == ALL


def test_an_interview_chooses_questions_by_track_role_level_and_time(
    drill: Drill, clock: Clock, bank: Path
) -> None:
    def chosen(*words: str) -> list[str]:
        result = drill("--bank", str(bank), "interview", "--json", *words)
        drill("interview", "end")
        return [*result.data["questions"]] if result.status == 0 else [result.out]

    assert chosen("--role", "kernels") == [TWO]  # and it is begun now
    assert chosen("--minutes", "30") == [ONE]
    (error,) = chosen()
    assert "no question of that kind fits 45 minutes and is not begun" in error
    for name in (ONE, TWO):
        write(ALL, name)
        drill("grade", name)
    assert sorted(chosen("--minutes", "18")) == [ONE, TWO]
    write(ALL)
    drill("grade", ONE)
    assert chosen("--minutes", "5") == [ONE]  # one part of it fits
    drill("interview", "--minutes", "4").refused("greater than or equal to 5")
    for option in ("track", "role", "level"):
        drill("interview", f"--{option}", "nothing").refused("there is no such")
    drill("interview", "no-such").refused("no question no-such")
    drill("interview", "debrief", "99").refused("no such interview")


def test_a_question_that_cannot_be_read_is_not_chosen(drill: Drill, bank: Path) -> None:
    (bank / "questions" / "broken.yaml").write_text("title: [")
    assert "broken" not in drill("interview", "--json").data["questions"]


@pytest.mark.parametrize("minutes", [20, 45, 60, 90])
def test_the_time_is_filled(
    real: Drill, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, minutes: int
) -> None:
    monkeypatch.setenv("DRILL_BANK", str(ROOT))
    takes = {
        question["id"]: question["minutes"] for question in real("list", "--json").data["questions"]
    }
    chosen = []
    for home in ("one", "other"):
        monkeypatch.setenv("DRILL_HOME", str(tmp_path / home))
        (tmp_path / home / "work").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / home / "work")
        result = real("interview", "--minutes", str(minutes), "--json")
        chosen.append(result.data["questions"])
    first, again = chosen
    assert first == again
    assert 0.8 * minutes <= sum(takes[name] for name in first) <= minutes
    assert [takes[name] for name in first] == sorted(takes[name] for name in first)


@pytest.mark.parametrize(("minutes", "code"), [(20, 0), (45, 1), (60, 1), (90, 2)])
def test_a_newcomer_is_asked_for_code_and_in_different_forms(
    real: Drill, monkeypatch: pytest.MonkeyPatch, minutes: int, code: int
) -> None:
    monkeypatch.setenv("DRILL_BANK", str(ROOT))
    by_id = {question["id"]: question for question in real("list", "--json").data["questions"]}
    names = real("interview", "--minutes", str(minutes), "--json").data["questions"]
    chosen = [by_id[name] for name in names]
    forms = [question["form"] for question in chosen]
    assert sum(form in {"fix", "diagnose", "write-the-test"} for form in forms) == code
    assert len({*forms}) == max(len(forms), 2)  # each once
    assert len({question["track"] for question in chosen}) > 1
    assert sum(question["minutes"] for question in chosen) >= 0.8 * minutes


def test_after_the_last_question_another_that_fits_is_offered(
    drill: Drill, clock: Clock, bank: Path
) -> None:
    ours = ("--bank", str(bank), "interview")
    drill("interview", ONE)
    clock.pass_(20)
    write(ALL)
    drill("grade", ONE)
    offer = one_line(drill(*ours))
    assert "That was the last question; 25 of 45 minutes left." in offer
    assert f"You can go on to {TWO} (9 minutes), or end it: drill interview end" in offer
    assert f"Next: drill interview next --bank {bank}" in offer
    assert "Question 2 of 2" in one_line(drill(*ours, "next"))
    clock.pass_(5)
    assert "Question 2 of 2" in one_line(drill("interview"))
    end = drill(*ours, "next").out
    assert "Next: drill interview end" in end
    assert "You can" not in end
    names = [question["id"] for question in drill("interview", "end", "--json").data["questions"]]
    assert names == [ONE, TWO]


def test_a_further_question_is_offered_only_if_it_fits_the_time_left(
    drill: Drill, clock: Clock, bank: Path
) -> None:
    drill("interview", ONE)
    clock.pass_(37)
    assert "Next: drill interview end" in drill("--bank", str(bank), "interview", "next").out


def test_marks_and_a_decision_are_in_the_debrief(drill: Drill, clock: Clock) -> None:
    drill("interview", "mark", "3").refused("there is no interview yet")
    assert "no interview on record; those of a candidate: --candidate NAME" in (
        drill("interview", "list").out
    )
    drill("interview", ONE, "--candidate", "Ada")
    who = ("--candidate", "Ada")
    assert drill("interview", "mark", "2", "--json", *who).data["mark"] == 2
    marked = drill("interview", "mark", "4", "--part", "2", *who)
    assert marked.out == f"marked part 2 of {ONE}\n"
    drill("interview", "end", *who)
    marked = drill("interview", "mark", "3", "asks for shapes", *who)  # the last one counts
    assert marked.out == f"marked {ONE}\n"
    assert "recorded" in drill("interview", "decide", "Invite her again.", *who).out
    document = drill("interview", "debrief", "--json", *who).data
    assert document["decision"] == "Invite her again."
    assert document["questions"][0]["marks"] == [[0, 3, "asks for shapes"], [2, 4, ""]]
    page = drill("interview", "debrief", *who).out
    assert "Decision: Invite her again." in page
    assert "Mark: 3 of 4. asks for shapes" in page
    assert "Mark, part 2: 4 of 4." in page
    drill("interview", "debrief", "--out", "ada.html", *who)
    html = Path("ada.html").read_text()
    assert "asks for shapes" in html
    assert "Invite her again." in html
    listing = drill("interview", "list", *who).out
    assert "Invite her again." in listing
    assert listing.endswith("Next: drill interview debrief --candidate Ada\n")
    (row,) = drill("interview", "list", "--json", *who).data["interviews"]
    assert row["questions"][0][0] == ONE
    for words, text in (
        (("5",), "expected a mark from 4 to 1"),
        (("2", "--part", "4"), "--part: expected a number from 1 to 3, found 4"),
        (("2", "--question", TWO), f"interview 1 did not ask {TWO}"),
    ):
        drill("interview", "mark", *words, *who).refused(text)


@pytest.mark.parametrize("blind", [(), ("--blind",)])
def test_grades_of_other_questions_are_as_without_an_interview(
    drill: Drill, clock: Clock, tmp_path: Path, blind: tuple[str, ...]
) -> None:
    drill("start", TWO)
    write(SUM, TWO)
    student = tmp_path / "student.py"
    student.write_text(SUM)
    commands = [("grade", TWO), ("grade", ONE, "--file", str(student), "--seed", "4")]
    for words in commands:
        assert "You give the sum" in drill(*words).out
    assert drill("interview", ONE, *blind).status == 0
    for words in commands:
        page = drill(*words)
        assert "You give the sum" in page.out, words
        assert "minutes left" not in one_line(page), words
    assert drill("case", "few", TWO).status == 0
    first, second = drill("history", TWO, "--json").data["attempts"]
    assert first["verdict"] == second["verdict"] == "fail"
    assert drill("history", TWO).out.count("sums") == 2
    write(SUM)
    assert "You give the sum" not in drill("grade", ONE).out
    (*_, attempt) = drill("history", ONE, "--json").data["attempts"]
    assert attempt["verdict"] == ("sealed" if blind else "fail")


@pytest.mark.parametrize("questions", [(ONE, TWO), (TWO, ONE)])
def test_a_refused_interview_does_not_open(
    drill: Drill, clock: Clock, questions: tuple[str, ...]
) -> None:
    Path(ONE).mkdir()
    Path(ONE, "submission.py").write_text("mine\n")
    drill("interview", *questions).refused("was not made by drill start")
    assert not Path(TWO).exists()
    drill("interview", "note", "x").refused("no interview is open")
    Path(ONE, "submission.py").unlink()
    assert "45 of 45 minutes left" in one_line(drill("interview", *questions))


@pytest.mark.parametrize("way", ["folder", "file"])
def test_an_interview_does_not_open_if_its_folder_cannot_be_created(
    drill: Drill, clock: Clock, way: str
) -> None:
    there = Path("Ada")
    if way == "file":  # a file of a question that was passed cannot be put aside
        drill("start", ONE)
        write(ALL)
        drill("grade", ONE)
        there = Path(ONE, "submission.py")
        there.unlink()
        there.mkdir()
    else:
        there.touch()
    who = ("--candidate", "Ada") if way == "folder" else ()
    assert drill("interview", ONE, *who).status == 2
    drill("interview", "next", *who).refused("no interview")
    there.unlink() if way == "folder" else there.rmdir()
    assert "45 of 45 minutes left" in one_line(drill("interview", ONE, *who))


def test_a_question_whose_folder_is_taken_is_not_chosen(
    drill: Drill, clock: Clock, bank: Path
) -> None:
    Path(ONE).mkdir()
    Path(ONE, "submission.py").write_text("mine\n")
    ours = ("--bank", str(bank), "interview")
    assert drill(*ours, "--json").data["questions"] == [TWO]
    assert ONE not in one_line(drill(*ours, "next"))


@pytest.mark.parametrize(("name", "chosen"), [("other", [TWO]), ("else/bank", [ONE, TWO])])
def test_a_folder_of_another_bank_is_left_alone_and_one_of_a_copy_is_used(
    drill: Drill, bank: Path, tmp_path: Path, name: str, chosen: list[str]
) -> None:
    copy = tmp_path / name
    shutil.copytree(bank, copy)
    drill("--bank", str(copy), "start", ONE)
    write(ALL)
    drill("--bank", str(copy), "grade", ONE)
    ours = ("--bank", str(bank), "interview", "--minutes", "18", "--json")
    assert sorted(drill(*ours).data["questions"]) == chosen


WHO = ("--candidate", "Ada L")
NEXT = "--candidate 'Ada L'"


def suggested_commands(result: CommandResult) -> list[str]:
    """Return the commands of interviews that a page suggests."""
    return [f"drill interview{words}" for words in one_line(result).split("drill interview")[1:]]


def test_every_command_that_is_suggested_is_about_the_same_candidate(
    drill: Drill, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = []

    def said(*words: str) -> str:
        monkeypatch.delenv("DRILL_CANDIDATE", raising=False)
        pages.append(drill("interview", *words, *WHO))
        return one_line(pages[-1])

    assert f"Next: drill interview {NEXT}" in said("list")
    assert f"cd 'Ada L/{ONE}' && DRILL_CANDIDATE='Ada L' drill grade" in said(ONE)
    said("--minutes", "30")
    said("debrief")
    with monkeypatch.context() as environment:  # suggested commands run as they are
        environment.setenv("DRILL_CANDIDATE", "Ada L")
        write(ALL, f"Ada L/{ONE}")
        pages.append(drill("grade", f"Ada L/{ONE}"))
    said("next")
    said("next")
    said("end")
    assert f"Next: drill interview {NEXT}" in said("note", "too late")
    said("debrief", "7")
    said("list")
    for page in pages:
        for command in suggested_commands(page):
            assert NEXT in command, command


def test_without_records_a_suggestion_is_about_the_candidate_too(
    drill: Drill, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "candidates" / "Ada L").mkdir(parents=True)
    for words in (["next"], ["decide", "x"], ["debrief"], ["list"]):
        assert f"Next: drill interview {NEXT}" in one_line(drill("interview", *words, *WHO))


def test_options_that_exclude_each_other_are_refused(drill: Drill) -> None:
    drill("interview", ONE, "--track", "t").refused("expected questions by ID, or --track")
    drill("interview", "next").refused("no interview is open")
    drill("interview", ONE)
    drill("interview", "--minutes", "30").refused("minutes left, and continues as it began")
    drill("interview", "next", ONE).refused("unexpected extra argument")
    drill("interview", "--end").refused("no such option: --end")
    assert "45 of 45 minutes left" in one_line(drill("interview"))


def test_a_note_is_taken_while_an_interview_is_open(drill: Drill, clock: Clock) -> None:
    drill("interview", ONE)
    assert drill("interview", "note", "quick", "--json").data["noted"] == 5
    assert "quick" in str(drill("interview", "end", "--json").data)
    drill("interview", "note", "x").refused("no interview is open")


def test_a_misspelled_candidate_is_reported_and_gets_no_records(drill: Drill, home: Path) -> None:
    assert (
        drill("interview", "list").out
        == "no interview on record; those of a candidate: --candidate NAME\nNext: drill interview\n"
    )
    drill("interview", ONE, "--candidate", "Ada L")
    for words in (["debrief"], ["end"], ["note", "x"], ["mark", "3"], ["decide", "x"], ["list"]):
        result = drill("interview", *words, "--candidate", "Adda L")
        result.refused("no interview of Adda L; did you mean 'Ada L'?", "--candidate 'Adda L'")
    assert [folder.name for folder in (home / "candidates").iterdir()] == ["Ada L"]


def test_the_list_of_interviews_fits_the_window(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    drill("interview", ONE, TWO)
    drill("interview", "decide", "yes")
    monkeypatch.setenv("COLUMNS", "50")
    lines = drill("interview", "list").out.splitlines()
    assert max(map(len, lines)) <= 50
    assert lines[0].split() == ["no.", "date", "questions", "decision"]


def test_an_interview_without_a_history_is_refused_with_the_reason(
    drill: Drill, home: Path
) -> None:
    home.write_text("no folder")
    result = drill("interview", ONE)
    result.refused("an interview needs your history, which cannot be written (", "drill doctor")


@pytest.mark.parametrize("name", ["../../evil", "..", "a/b", "/tmp/evil", " ", "x" * 61, "a\n"])
def test_a_name_that_leads_out_of_the_data_folder_is_refused(
    drill: Drill, home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    drill("interview", ONE, "--candidate", name).refused("--candidate: expected a name")
    monkeypatch.setenv("DRILL_CANDIDATE", name)
    drill("start", ONE).refused("DRILL_CANDIDATE: expected a name")
    assert not home.exists()
    assert not Path(ONE).exists()


def test_one_interview_is_open_at_a_time(drill: Drill, clock: Clock) -> None:
    drill("interview", "debrief").refused("no such interview")
    drill("interview", "note", "x").refused("no interview is open")
    drill("interview", ONE)
    clock.pass_(44.5)
    drill("interview", TWO).refused(
        "1 of 45 minutes left, and continues as it began", "interview end"
    )
    drill("interview", "debrief").refused("the interview is open")
    clock.pass_(-300)  # a clock that went back takes nothing
    assert "45 of 45 minutes left" in one_line(drill("interview"))
    write(SUM)
    drill("grade", ONE)
    clock.pass_(600)
    assert "45 of 45 minutes." in drill("interview").out
    assert "Question 1 of 1" in one_line(drill("interview", TWO))  # and then another begins
    drill("interview", "end")
    assert "Interview 1" in drill("interview", "debrief", "1").out
    assert "Interview 2" in drill("interview", "debrief").out
    drill("interview", "debrief", "--out", "x.pdf").refused("ends in .md or .html")


def test_a_debrief_is_shown_after_its_bank_was_deleted(
    drill: Drill, clock: Clock, bank: Path
) -> None:
    hold_interview(drill, clock)
    shutil.rmtree(bank)
    drill("grade", TWO).refused("expected a folder that holds questions/")
    page = drill("interview", "debrief").out
    assert "Three answers to one list" in page
    assert "To review" not in page


def test_an_interview_needs_records(drill: Drill, home: Path) -> None:
    home.mkdir()
    (home / "drill.sqlite3").write_bytes(b"no database" * 100)
    drill("interview", ONE).refused("drill.sqlite3")
    assert not Path(ONE).exists()


def test_the_records_of_a_candidate_are_kept_separately(
    drill: Drill, bank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DRILL_BANK")
    drill("bank", "add", str(bank))  # the host's list of banks is for all
    drill("interview", ONE, "--candidate", "Ada L")
    assert Path("Ada L", ONE, "submission.py").exists()
    os.environ["DRILL_CANDIDATE"] = ""
    drill("interview", "note", "slow but sure", "--candidate", "Ada L")
    os.environ["DRILL_CANDIDATE"] = ""
    assert {question["state"] for question in drill("list", "--json").data["questions"]} == {"new"}
    drill("interview", "debrief").refused("no such interview")
    page = drill("interview", "end", "--candidate", "Ada L").out
    assert "Interview 1 of Ada L" in page
    assert "part 1: slow but sure" in page
    for name in ("../x", " ", ".x", "a/b", "x" * 99):
        drill("interview", "end", "--candidate", name).refused("--candidate: expected a name")


def test_an_interview_alone_runs_on_the_whole_screen(drill: Drill, home: Path) -> None:
    here = OnTerminal("interview", "halve-well", "double-trouble", DRILL_BANK="")
    page = here.until("45 of 45 minutes left  space: back")
    assert "Question 1 of 2" in page
    assert "A colleague doubles numbers" in page
    file = Path("halve-well", "submission.py")
    here.type("h")  # on the question's page
    here.until("A hint is recorded in the debrief. Show one?")
    here.until("y yes  other keys: no")
    here.type("n")
    assert "Question 1 of 2" in here.until("space: back")
    here.type("h")
    here.until("other keys: no")
    here.type("y")
    assert "hint 1 of 3" in here.until("space: back")
    here.until("q leave")
    here.type("x")
    here.until("q leave")
    file.write_text("# pass\n")
    assert "PASS" in here.until("q leave")
    here.type("n")
    here.until(
        "Leave halve-well and go on to double-trouble (25 minutes)?\r\n45 of 45 minutes left."
    )
    here.type("y")
    assert "Question 2 of 2" in here.until("space: back")
    here.type("x")
    here.until("q leave")
    here.type("\x03")
    assert here.ended() == 0
    assert "45 of 45 minutes left, and the clock is running." in here.raw
    assert here.raw.count("hint 1 of 3") == 1


def test_a_kill_in_the_middle_loses_nothing(drill: Drill) -> None:
    here = OnTerminal("interview", "halve-well", "double-trouble", DRILL_BANK="")
    here.until("space: back")
    Path("halve-well", "submission.py").write_text("# pass\n")
    here.type("x")
    here.until("PASS")
    os.kill(here.job, signal.SIGKILL)
    here.until("ended with -9")
    here.process.wait(60)
    here.hang_up()
    again = OnTerminal("interview", DRILL_BANK="")
    assert "Question 2 of 2" in again.until("space: back")
    again.type("xq")
    assert again.ended() == 0


def test_a_hosts_screen_shows_neither_notes_nor_verdicts(drill: Drill) -> None:
    here = OnTerminal("interview", "halve-well", "--candidate", "Ada", "--blind", DRILL_BANK="")
    here.until("space: back")
    here.type("x")
    here.until("g go on  n note  m mark")
    Path("Ada", "halve-well", "submission.py").write_text("# pass\n")
    here.until("submission.py is received.")
    here.until("q leave")
    here.type("n")
    here.until("note, not shown: 0 characters")
    here.type("knows the rule\x7f\x7fle")
    here.until("note, not shown: 14 characters")
    here.type("\r")
    assert "noted, 14 characters" in here.until("space: back")
    for text, answer in (("9 often", "expected a mark from 4 to 1"), ("2 guesses", "noted, 9")):
        here.type("m")
        here.until("mark from 4 to 1, then a note, not shown: 0 characters")
        here.type(f"{text}\r")
        assert answer in here.until("space: back")
    here.type("q")
    assert here.ended() == 0
    for secret in ("knows", "the rule", "guesses", "often", "PASS", "agrees", "And halving?"):
        assert secret not in here.raw
    result = subprocess.run(
        [sys.executable, "-m", "tests.commands.stand_in", "interview", "end", "--candidate", "Ada"],
        capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT), "DRILL_BANK": ""},
    )  # fmt: skip
    assert "halve-well, part 1: knows the rule" in result.stdout, result
    assert "Mark: 2 of 4. guesses" in result.stdout
    assert "To review" not in result.stdout


def test_the_page_of_the_question_names_no_command_and_no_later_part(drill: Drill) -> None:
    here = OnTerminal("interview", "halve-well", "--candidate", "Ada", DRILL_BANK="")
    here.until("space: back")
    here.type("x")
    here.until("g go on  n note  m mark")
    here.type("p")
    page = here.until("space: back")
    assert "halve-well" in page
    assert "drill show" not in page
    assert "drill grade" not in page
    here.type("q")
    assert here.ended() == 0


@pytest.mark.parametrize("who", [(), ("--candidate", "Ada")])
def test_the_screen_ends_with_the_time(home: Path, who: tuple[str, ...]) -> None:
    assert home.name
    here = OnTerminal("interview", "halve-well", *who, DRILL_BANK="", CLOCK_SPEED="400")
    page = here.until("space: back")
    assert "of 45 minutes left, until" in " ".join(page.split())
    here.type("x")
    assert here.ended() == 0
    assert ("recorded in the debrief." in here.raw) is bool(who)
    assert ("comes back sooner" in here.raw) is not bool(who)
    if who:
        assert " drill interview debrief --candidate Ada" in here.raw
        assert "planned" not in here.raw
    else:
        assert "45 of 45 minutes." in here.raw
        assert "now, as it is not passed yet." in here.raw


def test_the_next_question_is_asked_after_a_yes(drill: Drill) -> None:
    here = OnTerminal("interview", "halve-well", "--minutes", "45", DRILL_BANK="")
    here.until("space: back")
    for no in ("x", "\x1b", "q", "n"):
        here.type("n")
        here.until("Leave halve-well and go on to ")
        assert "(25 minutes)?\r\n45 of 45 minutes left." in here.until("y yes  other keys: no")
        here.type(no)
        assert "Question 1 of 1" in here.until("space: back")
    here.type("ny")
    here.until("Question 2 of 2")
    here.until("q leave")
    here.type("q")
    assert here.ended() == 0


def test_after_a_yes_the_interview_is_over(drill: Drill) -> None:
    here = OnTerminal("interview", "halve-well", "--minutes", "20", DRILL_BANK="")
    here.until("space: back")
    here.type("n")
    here.until("Leave halve-well and end the interview?\r\n20 of 20 minutes left.")
    here.type("y")
    assert here.ended() == 0
    assert "0 of 20 minutes." in here.raw
    drill("interview", "note", "x").refused("no interview is open")


def test_a_verdict_replaces_the_page_of_the_question(drill: Drill) -> None:
    here = OnTerminal("interview", "halve-well", "--candidate", "Ada", DRILL_BANK="")
    here.until("space: back")
    here.until("space: back")  # drawn again when the starter is graded
    Path("Ada", "halve-well", "submission.py").write_text("# pass\n")
    here.until("PASS")
    here.until("q leave")
    here.type("h")
    here.until("A hint is recorded in the debrief. Show one?")
    here.type("q")  # is a no
    here.until("q leave")
    here.type("q")
    assert here.ended() == 0


def test_end_asks_for_confirmation_at_a_terminal(drill: Drill) -> None:
    here = OnTerminal("interview", "halve-well", DRILL_BANK="")
    here.until("space: back")
    here.type("q")
    assert here.ended() == 0
    for answer, status in (("n", ""), ("y", "0 of 45 minutes.")):
        here = OnTerminal("interview", "end", DRILL_BANK="")
        here.until("End it with 45 of 45 minutes left?")
        here.type(f"{answer}\n")
        assert here.ended() == 0
        assert status in here.raw
