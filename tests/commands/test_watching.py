"""A drill is graded at every save as by `drill grade`, even if its file disappears meanwhile."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

import grader.explain.session
from grader.commands import history, interview, open_interview, start, watched_drill
from grader.commands.context import Context
from grader.commands.grade import SealedError
from grader.commands.watched_drill import WatchedDrill
from grader.model.errors import GraderError
from grader.model.report import Report
from grader.records import events
from tests.commands import stand_in

ROOT = Path(__file__).parents[2]
BANKS = ROOT / "tests" / "banks"
MEAN = b"def mean(x):\n    return x.sum() / x.size\n"
BOTH = b"def mean(x):\n    return x.sum() / max(x.size, 1)\n"


@pytest.fixture
def warned() -> list[str]:
    return []


@pytest.fixture
def here(tmp_path: Path, warned: list[str]) -> Callable[[Path], Context]:
    """Give the surroundings of a person who uses one bank."""
    work = tmp_path / "work"
    work.mkdir()
    seconds = count()

    def surroundings(bank: Path) -> Context:
        return Context(
            work,
            tmp_path / "home",
            lambda: f"2026-01-02T03:04:{next(seconds):02}+00:00",
            bank,
            who="ann",
            show_warning=lambda message, hint: warned.append(f"{message} {hint}".rstrip()),
        )

    return surroundings


@pytest.fixture
def ctx(here: Callable[[Path], Context]) -> Context:
    return here(BANKS / "small")


@pytest.fixture
def watched(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> Iterator[WatchedDrill]:
    """Watch a drill whose judge reads the verdict from the file."""
    for module, name, function in stand_in.put_in_place():
        monkeypatch.setattr(module, name, function)
    start.start_drill(ctx, "double-trouble")
    with WatchedDrill(ctx, "double-trouble") as watched:
        yield watched


def verdicts(ctx: Context) -> list[str]:
    """Return the recorded verdicts, the latest last."""
    return [row.attempt.state for row in history.list_history(ctx)[0]]


def report_of(watched: WatchedDrill) -> Report:
    assert watched.last_grade is not None
    return watched.last_grade.report


def test_a_save_is_graded_once_and_recorded_as_any_grade(
    ctx: Context, watched: WatchedDrill
) -> None:
    assert watched.grade_if_changed()
    assert not watched.grade_if_changed()
    watched.path.touch()
    assert not watched.grade_if_changed()  # nothing is another
    for text in ("# fail 1", "# pass", "# fail 1"):
        watched.path.write_text(text)
        assert watched.grade_if_changed()
        assert not watched.grade_if_changed()
    assert verdicts(ctx) == ["fail", "fail", "pass", "fail"]
    assert watched.last_grade is not None
    assert watched.last_grade.tries == 0  # a version is a try once
    assert watched.last_grade.progress_before.passed_in_sitting


def test_the_seed_stays_until_another_is_asked_for(ctx: Context, watched: WatchedDrill) -> None:
    watched.grade_if_changed()
    watched.path.write_text("# pass")
    watched.grade_if_changed()
    watched.grade_again()
    seeds = [row.attempt.seed for row in history.list_history(ctx)[0]]
    assert seeds[0] == seeds[1] != seeds[2]
    assert watched.news == ""  # of the same version


def test_the_minutes_of_a_sitting_run_on_until_it_is_over(
    ctx: Context, watched: WatchedDrill, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.grade_if_changed()
    assert watched.time_text == "0 of 25 min"
    later = replace(ctx, now=lambda: "2026-01-02T03:16:30+00:00")
    monkeypatch.setattr(watched, "_ctx", later)
    assert watched.time_text == "12 of 25 min"
    watched.path.write_text("# pass")
    watched.grade_if_changed()
    assert watched.time_text == ""
    start.start_again(later, "double-trouble")
    watched.grade_if_changed()
    assert watched.time_text == "0 of 25 min"


def test_a_missing_file_is_reported_and_graded_when_it_is_back(
    ctx: Context, watched: WatchedDrill, tmp_path: Path
) -> None:
    path, aside = watched.path, tmp_path / "aside.py"

    def nothing() -> None: ...

    def link() -> None:
        path.symlink_to(aside)

    def large() -> None:
        with path.open("wb") as file:
            file.truncate(1 << 30)

    watched.grade_if_changed()
    for make, message in (
        (nothing, "there is no such file"),
        (path.mkdir, "found a folder"),
        (lambda: os.mkfifo(path), "found a pipe"),
        (link, "found a symbolic link"),
        (large, "at most 1,000,000 bytes"),
        (lambda: shutil.rmtree(path.parent), "nor the folder"),
    ):
        if path.exists() and not aside.exists():
            path.rename(aside)
        make()
        assert watched.grade_if_changed(), message
        assert watched.fault is not None
        assert message in watched.fault.message
        assert not watched.grade_if_changed()
        with suppress(OSError):
            path.rmdir() if path.is_dir() else path.unlink()
    path.parent.mkdir()
    aside.rename(path)
    assert watched.grade_if_changed()
    assert watched.fault is None
    path.write_bytes(b"# \xff\xfe\n")
    assert watched.grade_if_changed()
    assert verdicts(ctx) == ["fail", "fail"]  # the starter that came back was graded before


def test_a_save_that_cannot_be_graded_does_not_affect_the_next_one(
    ctx: Context, watched: WatchedDrill, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[stand_in.Session] = []

    class Session(stand_in.Session):
        def grade(self, submission: bytes, **more: object) -> Report:
            opened.append(self)
            if b"gone" in submission:
                raise GraderError("the process that starts workers has ended")
            return super().grade(submission, **more)

        def close(self) -> None:
            opened.append(self)

    monkeypatch.setattr(grader.explain.session, "GradingSession", Session)
    watched.grade_if_changed()
    watched.path.write_text("# gone")
    assert watched.grade_if_changed()
    assert str(watched.fault) == "the process that starts workers has ended"
    assert not watched.grade_if_changed()  # nor is it tried again and again
    watched.path.write_text("# pass")
    assert watched.grade_if_changed()
    assert watched.fault is None
    first, _, closed, second = opened
    assert first is closed is not second
    assert verdicts(ctx) == ["fail", "unfinished", "pass"]


def test_records_that_fail_meanwhile_end_nothing(
    ctx: Context, watched: WatchedDrill, warned: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "BUSY_SECONDS", 0.01)

    def save(text: str) -> str:
        watched.path.write_text(text)
        assert watched.grade_if_changed()
        return report_of(watched).verdict

    watched.grade_if_changed()
    path = ctx.store.path
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        assert save("# pass") == "pass"
        assert save("# fail 1") == "fail"
    (warning,) = warned  # once
    assert warning.startswith("Your history cannot be read (")
    assert "database is locked" in warning
    assert save("# fail 2") == "fail"
    assert verdicts(ctx) == ["fail", "fail"]
    path.rename(path.with_name("aside"))
    assert save("# error") == "error"  # into records that begin anew
    path.write_bytes(b"no database" * 1000)
    assert save("# pass") == "pass"
    path.with_name("aside").rename(path)
    assert save("# fail 3") == "fail"
    assert verdicts(ctx) == ["fail"] * 3
    assert len(warned) == 1


def test_changes_are_those_since_the_version_before_or_the_starter(
    watched: WatchedDrill,
) -> None:
    watched.grade_if_changed()
    assert watched.diff_since_last() == ()
    watched.path.write_bytes(stand_in.STARTER.replace(b" + 1", b""))
    watched.grade_if_changed()
    changed = ((" ", "def double(x):"), ("-", "    return x + x + 1"), ("+", "    return x + x"))
    assert watched.diff_since_last() == changed
    watched.grade_again()
    assert watched.diff_since_last() == changed
    watched.path.write_bytes(stand_in.REFERENCE)
    watched.grade_if_changed()
    assert watched.diff_since_last()[-2:] == (("-", "    return x + x"), ("+", "    return 2 * x"))


@pytest.mark.usefixtures("one_zygote")
def test_parts_are_asked_one_after_another_and_one_that_fails_again_is_news(
    here: Callable[[Path], Context],
) -> None:
    ctx, early_verdicts = here(BANKS / "parts"), list[str]()
    made = start.start_drill(ctx, "mean-and-spread")
    question = made.question
    asked = made.workspace.folder / "QUESTION.md"

    with WatchedDrill(ctx, "mean-and-spread") as watched:
        watched.on_verdict = lambda report: early_verdicts.append(report.verdict)

        def save(source: bytes) -> str:
            watched.path.write_bytes(source)
            assert watched.grade_if_changed()
            return watched.news

        assert watched.grade_if_changed()
        assert "sends nothing at all" not in asked.read_text()
        assert early_verdicts.pop() == "fail"
        # Part 2 fails, but is no news before it is asked.
        assert save(MEAN) == "Since the last save: mean passes now."
        assert (report_of(watched).verdict, early_verdicts) == ("fail", [])
        assert "sends nothing at all" in asked.read_text()
        assert save(MEAN.replace(b"x.size", b"len(x)")) == "Since the last save: no check changed."
        assert early_verdicts.pop() == "fail"
        assert save(BOTH) == "Since the last save: nothing passes now."
        lost = save(BOTH.replace(b"sum", b"max"))
        assert lost == "Since the last save: new: mean."
        assert save(b"def mean(") == ""
    assert known_tries(ctx) == 4
    # What another process wrote counts, too.
    early_verdicts.clear()
    with WatchedDrill(ctx, "mean-and-spread") as watched:
        watched.on_verdict = lambda report: early_verdicts.append(report.verdict)
        watched.path.write_bytes(question.reference)
        watched.grade_if_changed()
        assert early_verdicts == ["pass"]
        assert report_of(watched).verdict == "pass"


def known_tries(ctx: Context) -> int:
    return sum(row.attempt.is_try for row in history.list_history(ctx)[0])


@pytest.mark.usefixtures("one_zygote")
def test_a_prediction_is_asked_about_before_the_grade_that_counts(
    here: Callable[[Path], Context], warned: list[str]
) -> None:
    ctx, asked = here(ROOT), list[bytes]()

    def refused(shown: bytes) -> bool:
        asked.append(shown)
        return False

    start.start_drill(ctx, "seven-windows", seed=0)
    answers = b"grad_x[1] = 2\ngrad_x[4] = 5\ngrad_x[6] = 0\n"
    with WatchedDrill(ctx, "seven-windows") as watched:
        watched.confirm_answers = refused
        assert watched.grade_if_changed()  # nothing is answered yet
        assert (asked, verdicts(ctx)) == ([], ["error"])
        watched.path.write_bytes(answers)
        assert watched.grade_if_changed()
        assert watched.fault is not None
        assert watched.fault.message.startswith("the first grade of a prediction is the one that")
        assert not watched.grade_if_changed()  # it is asked once
        assert (asked, len(verdicts(ctx))) == ([answers], 1)
        watched.confirm_answers = lambda _: True
        watched.grade_again()
        assert (report_of(watched).verdict, watched.last_grade and watched.last_grade.tries) == (
            "fail",
            1,
        )
        watched.path.write_bytes(answers.replace(b"5", b"8"))
        assert watched.grade_if_changed()
        assert report_of(watched).verdict == "pass"
        assert watched.last_grade is not None
        assert watched.last_grade.tries == 0
    assert len(asked) == 1
    assert warned == ["Only your first prediction is scored; this grade of answers.txt does not"
                      " count."]  # fmt: skip


def test_every_way_to_save_is_noticed(ctx: Context, watched: WatchedDrill, tmp_path: Path) -> None:
    path = watched.path
    aside = tmp_path / "aside"

    def replace(text: str) -> None:
        aside.write_text(text)
        aside.rename(path)

    def recreate(text: str) -> None:
        path.parent.mkdir()
        path.write_text(text)

    for change in (
        lambda: path.write_text("# fail 1"),
        lambda: path.write_text("# fail 2"),
        lambda: replace("# fail 3"),
        path.unlink,
        lambda: path.write_text("# fail 4"),
        lambda: shutil.rmtree(path.parent),
        lambda: recreate("# fail 5"),
        lambda: replace("# fail 6"),
    ):
        change()
        assert watched.grade_if_changed()
        assert not watched.grade_if_changed()
    assert verdicts(ctx) == ["fail"] * 6


def test_a_save_that_is_not_complete_is_waited_for(
    ctx: Context, watched: WatchedDrill, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = iter(["# err", "# error", "# error"])
    waits = [watched_drill.EMPTY_PAUSE, watched_drill.SAVE_PAUSE, watched_drill.SAVE_PAUSE]
    pauses: list[float] = []

    def write_next_piece(seconds: float) -> None:
        pauses.append(seconds)
        watched.path.write_text(next(pieces))

    monkeypatch.setattr(time, "sleep", write_next_piece)
    watched.path.write_text("")
    assert watched.grade_if_changed()
    assert pauses == waits
    assert verdicts(ctx) == ["error"]


def test_a_blind_interview_has_no_verdict_also_early(here: Callable[[Path], Context]) -> None:
    ctx = here(BANKS / "parts")
    interview.begin_interview(ctx, ["mean-and-spread"], minutes=45, blind=True)
    held = open_interview.unclosed_interview(ctx)
    assert held is not None
    assert interview.current_drill(ctx, held) is not None
    early: list[Report] = []
    with WatchedDrill(ctx, "mean-and-spread") as watched:
        watched.on_verdict = early.append
        watched.path.write_bytes(b"def mean(x):\n    return 7.0\n")
        assert watched.grade_if_changed()
        assert isinstance(watched.fault, SealedError)
        assert watched.fault.message == "submission.py is received. It loads."
        assert (watched.last_grade, early) == (None, [])
        open_interview.end_interview(ctx)
        watched.grade_again()
        assert watched.last_grade is not None
        assert len(early) == 1
