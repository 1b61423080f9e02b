"""Practice that comes back, from a start to months later, on a clock that is moved."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date, datetime, time, timedelta
from pathlib import Path

import pytest

from tests.commands.conftest import ROOT, Drill
from tests.commands.stand_in import STARTER

ID = "double-trouble"
FILE = Path(ID, "submission.py")
FIRST = date(2026, 3, 1)


class Clock:
    """A clock on a wall that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = datetime.combine(FIRST, time(12)).astimezone()

    def __call__(self) -> str:
        return self.at.isoformat()

    def pass_(self, **time: float) -> None:
        self.at += timedelta(**time)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("grader.commands.options.now", clock)
    return clock


def solve(drill: Drill, clock: Clock, *, misses: int = 0, minutes: float = 5) -> None:
    """Grade some wrong versions (`misses`), then a right one."""
    for number in range(misses):
        clock.pass_(minutes=1)
        FILE.write_text(f"# fail {number}\n")
        assert drill("grade", ID).status == 1
    clock.pass_(minutes=minutes)
    FILE.write_text("# pass\n")
    assert drill("grade", ID).status == 0


def due_day(drill: Drill, question: str = ID) -> date:
    """Return the day on which a question comes back."""
    (row,) = (q for q in drill("list", "--json").data["questions"] if q["id"] == question)
    return date.fromisoformat(row["due"])


def test_a_due_question_starts_over_and_keeps_the_old_file(drill: Drill, clock: Clock) -> None:
    drill("start", ID)
    drill("hint")
    solve(drill, clock)
    assert due_day(drill) == FIRST + timedelta(1)  # a hint was needed
    assert "due Mar 2" in drill("list").out
    assert "1 of 3 passed\n" in drill("list").out
    assert drill("list", "--due").out == "nothing is due\nNext: drill next\n"
    clock.pass_(days=1)
    page = f"{ID}   due today: passed 1 day ago in 1 try, 1 hint\nNext: drill start {ID} --again\n"
    assert drill("next").out == page
    assert "1 of 1 passed, 1 due for review" in drill("list", "--due").out
    clock.pass_(days=9)
    assert f"{ID}   due since Mar 2: passed 10 days ago" in drill("next").out
    assert "due since Mar 2\n" in drill("list").out
    assert FILE.read_text() == "# pass\n"
    result = drill("start", ID, "--again")
    assert f"Kept  {ID}/submission.before-again-1.py\nNext: cd {ID} && drill grade\n" in result.out
    assert max(map(len, result.out.splitlines())) <= 80
    assert "due" not in drill("list").out  # it is begun
    assert drill("list", "--due").out.startswith("nothing is due")
    assert FILE.read_bytes() == STARTER
    assert FILE.with_name("submission.before-again-1.py").read_text() == "# pass\n"
    assert drill("history", "restore", "2").status == 0
    assert FILE.read_text() == "# pass\n"


def test_each_sitting_counts_its_own_tries_hints_and_minutes(drill: Drill, clock: Clock) -> None:
    drill("start", ID)
    drill("hint")
    solve(drill, clock, misses=2)
    clock.pass_(days=30)
    data = drill("start", ID, "--again", "--json").data
    assert (data["already_started"], Path(data["kept"]).name) == (
        True,
        "submission.before-again-1.py",
    )
    assert "hint 1 of 3" in drill("hint").out
    clock.pass_(minutes=7)
    FILE.write_text("# fail 0\n")
    assert "try 1," in drill("grade").out
    assert "begun again: 1 try" in drill("next").out
    FILE.write_text("# pass\n")
    page = drill("grade").out
    assert "try 2," in page
    assert "7 minutes (25 planned)" in page
    assert [row["sitting"] for row in drill("history", "--json").data["attempts"]] == [1] * 3 + [
        2
    ] * 3
    assert [row["hints"] for row in drill("history", "--json").data["attempts"]] == [1] * 3 + [
        0,
        1,
        1,
    ]


def test_a_good_sitting_waits_for_months_and_a_bad_one_comes_back_soon(
    drill: Drill, clock: Clock
) -> None:
    drill("start", ID)
    waits = []
    for _ in range(5):
        solve(drill, clock, misses=1)
        waits.append((due_day(drill) - clock.at.date()).days)
        clock.pass_(days=waits[-1])
        assert drill("start", ID, "--again").status == 0
    assert waits == sorted(waits)
    assert 2 <= waits[0] < 31 < waits[-1] <= 180
    remark = "You have not passed again: this sitting counts as given up."
    drill("solution").refused("is shown when all parts pass again")
    assert remark in drill("solution", "--give-up").out
    assert due_day(drill) <= clock.at.date() + timedelta(14)


def test_nothing_is_due_when_everything_is_passed(drill: Drill, clock: Clock) -> None:
    for name in (ID, "halve-well", "needs-torch"):
        drill("start", name)
        Path(name, "submission.py").write_text("# pass\n")
        clock.pass_(minutes=1)
        drill("grade", name)
    day = due_day(drill)
    result = drill("next")
    assert result.out == (
        f"Nothing is due until {day:%b} {day.day}. Then:\n"
        f"{ID}   passed today in 1 try, no hints\n"
        f"Next: drill start {ID} --again   drill list\n"
    )
    assert drill("next", "--json").data["next"] | {"folder": ""} == {
        "question": ID, "kind": "later", "reason": "passed today in 1 try, no hints",
        "due": day.isoformat(), "folder": "",
    }  # fmt: skip


def test_a_question_that_was_given_up_comes_back_and_starts_over(
    drill: Drill, clock: Clock
) -> None:
    drill("start", ID)
    drill("solution", ID, "--give-up")
    drill("solution", "halve-well", "--give-up")  # it was never started: no sitting
    assert drill("next").out.startswith("needs-torch   new")
    clock.pass_(days=1)
    assert f"{ID}   due today: given up 1 day ago" in drill("next").out
    drill("start", "halve-well", "--again").refused(
        "not passed yet", "Next: drill start halve-well"
    )
    result = drill("start", ID, "--again")
    assert "Kept" not in result.out  # it was the starter still
    assert FILE.read_bytes() == STARTER
    drill("solution", ID).refused("is shown when all parts pass")
    solve(drill, clock)
    assert "1 of 3 passed\n" in drill("list").out
    assert "halve-well" in drill("list", "--new").out


def test_a_deleted_folder_is_created_again_in_the_current_folder(
    drill: Drill, clock: Clock
) -> None:
    drill("start", ID, "--dir", "../elsewhere")
    there = Path("../elsewhere") / FILE
    there.write_text("# pass\n")
    drill("grade", ID)
    clock.pass_(days=60)
    assert drill("start", ID, "--again").status == 0  # in the folder of the last start
    assert not FILE.exists()
    assert there.read_bytes() == STARTER
    there.write_text("# pass\n")
    drill("grade", ID)
    there.rename(there.with_name("away.py"))
    (there.parent / ".drill").unlink()
    assert drill("start", ID, "--again").status == 0
    assert FILE.read_bytes() == STARTER


def test_a_prediction_has_its_one_try_in_each_sitting_and_is_followed_by_its_question(
    drill: Drill, clock: Clock
) -> None:
    name, then = "four-averages", "conv1d-per-step"
    answers = Path(name, "answers.txt")

    def call(*words: str) -> str:
        return drill("--bank", str(ROOT), *words).out

    def suggested() -> tuple[str, str, str]:
        document = drill("--bank", str(ROOT), "next", "--json").data["next"]
        return document["question"], document["kind"], document["reason"]

    call("start", name)
    answers.write_text("# fail\n")
    assert "try 1," in call("grade", name, "--yes")
    assert "try " not in call("grade", name, "--yes")  # of a version that counts no more
    assert suggested()[:2] == (then, "new")
    assert suggested()[2].endswith(f"it goes on from {name}")  # which was right or wrong
    clock.pass_(days=1)
    assert suggested() == (name, "due", "due today: predicted wrong 1 day ago")
    assert "the starter again, the first grade counts" in call("start", name, "--again")
    answers.write_text("# pass\n")
    assert "try 1," in call("grade", name, "--yes")
    assert suggested()[0] == then


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (("--under", "25"), {ID, "halve-well", "needs-torch"}),
        (("--under", "24"), set()),
        (("--level", "core", "--new"), {"halve-well", "needs-torch"}),
        (("--due",), {ID}),
        (("--due", "--track", "tensors"), set()),
        (("--role", "kernels"), {"needs-torch"}),
        (("--role", "research"), set()),
    ],
)
def test_a_list_can_be_narrowed(
    drill: Drill, clock: Clock, words: tuple[str, ...], ids: set[str]
) -> None:
    drill("start", ID)
    solve(drill, clock)
    clock.pass_(days=60)
    listed = drill("list", *words, "--json").data["questions"]
    assert {q["id"] for q in listed} == ids


def test_commands_work_after_the_clock_was_set_back(drill: Drill, clock: Clock) -> None:
    drill("start", ID)
    solve(drill, clock)
    clock.pass_(days=-400)
    assert "due 2026-03-" in drill("list").out
    assert drill("next").out.startswith("halve-well")
    assert drill("start", ID, "--again").status == 0
    clock.pass_(days=-1)
    solve(drill, clock)
    assert due_day(drill) < FIRST
    assert drill("progress").status == 0


def test_without_records_every_command_warns_once_and_continues(drill: Drill, home: Path) -> None:
    home.mkdir()
    (home / "drill.sqlite3").write_bytes(b"no database at all, " * 500)
    for words, phrase in (
        (("next",), "Next: drill start double-trouble"),
        (("list",), "0 of 3 passed"),
        (("progress",), "0 of 3 passed, 0 due for review"),
    ):
        result = drill(*words)
        assert result.status == 0
        assert phrase in result.out
        assert result.err.count("Your history cannot be read") == 1
    drill("start", ID, "--again").refused("is not passed yet", "Your history cannot be read")
    assert not Path(ID).exists()


def test_broken_details_and_unknown_events_are_ignored(
    drill: Drill, clock: Clock, home: Path
) -> None:
    drill("start", ID)
    solve(drill, clock)
    before = due_day(drill)
    insert = (
        "INSERT INTO events (what, at, who, program, question, bank, verdict, detail)"
        " SELECT ?, at, who, program, question, bank, ?, ? FROM events LIMIT 1"
    )

    def say(what: str, verdict: str | None, detail: str | None) -> None:
        with closing(sqlite3.connect(home / "drill.sqlite3")) as db, db:
            db.execute(insert, (what, verdict, detail))

    for what, verdict, detail in (
        ("discussed", "pass", "{"), ("discussed", "maybe", "[1]"), ("discussed", None, None),
        ("noted", None, "\x1b[2J"), ("interview", None, "{}"), ("of another year", "fail", "?"),
    ):  # fmt: skip
        say(what, verdict, detail)
    assert due_day(drill) == before
    say("discussed", "fail", "{no json")
    assert due_day(drill) < before
    clock.pass_(days=30)
    assert "a follow-up was answered wrong 30 days ago" in drill("next").out
