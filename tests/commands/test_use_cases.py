"""The functions behind commands take values, return values, and print nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from grader.commands import case, grade, hint, history, list_and_next, solution, start
from grader.commands.context import Context
from grader.model.errors import UsageError
from grader.records import events, progress
from tests.bank.specs import write_bank

pytestmark = pytest.mark.usefixtures("one_zygote")

NAME = "scaled-copy"
RIGHT = b"""\
def scale(x, factor):
    return x * factor, factor


def scale_backward(grad_y, ctx):
    return grad_y * ctx
"""


def write_bank_at(folder: Path) -> Path:
    """Write a bank whose reference is `RIGHT` and whose starter returns nothing."""
    write_bank(folder)
    for name, source in (("starter", b"\n"), ("reference", RIGHT)):
        (folder / "drills" / NAME / f"{name}.py").write_bytes(source)
    return folder


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """Give a bank of one question."""
    return write_bank_at(tmp_path / "bank")


@pytest.fixture
def warned() -> list[str]:
    """Return the list of warnings, each with its hint."""
    return []


@pytest.fixture
def ctx(tmp_path: Path, bank: Path, warned: list[str]) -> Context:
    """Give the surroundings of a person who uses that bank."""
    work = tmp_path / "work"
    work.mkdir()

    def say(message: str, hint: str) -> None:
        warned.append(f"{message} {hint}")

    return Context(
        work,
        tmp_path / "home",
        lambda: "2026-01-02T03:04:05+00:00",
        bank,
        who="ann",
        show_warning=say,
    )


@pytest.fixture
def file(ctx: Context) -> Path:
    """Start the question; give the file to be edited, which is right."""
    own = start.start_drill(ctx, NAME).workspace.submission
    own.write_bytes(RIGHT)
    return own


def progress_of(ctx: Context, bank: Path | None = None) -> progress.QuestionProgress:
    """Return the progress with a bank's question."""
    return progress.progress_of(
        ctx.read(progress.progress_events, {}), NAME, bank or ctx.banks()[0]
    )


def test_every_event_has_person_time_question_and_program(ctx: Context, bank: Path) -> None:
    question = start.start_drill(ctx, NAME).question
    grade.grade_file(ctx)
    hint.next_hint(ctx, None)
    solution.show_solution(ctx, None, give_up=True)
    start.reset_drill(ctx, None)
    query = "SELECT what, who, at, bank, digest, program FROM events ORDER BY id"
    rows = ctx.store.read(lambda db: db.execute(query).fetchall(), empty=[])
    assert " ".join(row[0] for row in rows) == "started begun graded hint solution reset"
    expected = ("ann", ctx.now(), str(bank), question.digest, "0.1.0")
    assert {row[1:] for row in rows} == {expected}


def test_a_grade_of_another_file_is_neither_a_try_nor_a_pass(
    ctx: Context, file: Path, tmp_path: Path
) -> None:
    student = tmp_path / "student.py"
    student.write_bytes(RIGHT)
    assert grade.grade_file(ctx, NAME, file=student).report.verdict == "pass"
    with pytest.raises(UsageError, match="does not belong to a started drill"):
        grade.grade_file(ctx, str(student))
    beside = student.rename(file.with_name("student.py"))
    assert grade.grade_file(ctx, str(beside)).report.verdict == "pass"
    assert (progress_of(ctx).state, progress_of(ctx).tries) == ("started", 0)
    with pytest.raises(UsageError, match="is shown when all parts pass"):
        solution.show_solution(ctx, NAME)
    assert grade.grade_file(ctx, file=file).tries == progress_of(ctx).tries == 0
    assert grade.grade_file(ctx).tries == 1
    assert progress_of(ctx).passed
    kinds = [(row.attempt.kind, row.attempt.verdict) for row in history.list_history(ctx)[0]]
    assert kinds == [*3 * [("review", "pass")], ("grade", "pass")]


def test_a_syntax_error_is_recorded_and_does_not_count_as_a_try(ctx: Context, file: Path) -> None:
    file.write_bytes(RIGHT.replace(b"* ctx", b"+ ctx"))
    assert grade.grade_file(ctx, seed=1).tries == 1
    failing = case.list_cases(ctx, NAME)[1]
    assert any(document["failing"] for document in failing)
    for wrong in (b"def scale(:\n", b"  x = 1\n y = 2\n"):
        file.write_bytes(wrong)
        result = grade.grade_file(ctx, seed=2)
        assert (result.tries, result.report.verdict) == (0, "error")
    assert (progress_of(ctx).tries, progress_of(ctx).failed_tries) == (1, 1)
    assert case.list_cases(ctx, NAME)[1] == failing  # of the last try
    rows = history.list_history(ctx)[0]
    assert [row.attempt.is_try for row in rows] == [True, False, False]
    assert [row.failed for row in rows[1:]] == 2 * ["a syntax error"]
    # This file is Python.
    for tries, source in ((2, b"raise SyntaxError('mine')\n"), (3, RIGHT)):
        file.write_bytes(source)
        assert grade.grade_file(ctx).tries == progress_of(ctx).tries == tries


def test_a_moved_folder_is_found_from_inside_and_can_be_recorded(
    ctx: Context, file: Path, tmp_path: Path, warned: list[str]
) -> None:
    inside = replace(ctx, folder=file.parent.rename(tmp_path / "moved"))
    graded = grade.grade_file(inside)
    assert (graded.report.verdict, graded.tries) == ("pass", 0)
    assert progress_of(ctx).state == "started"  # an unrecorded pass does not count
    (warning,) = warned
    assert warning.endswith(f" drill start {NAME} --bank {ctx.bank} in it makes it count.")
    without = replace(inside, bank=None)
    with pytest.raises(UsageError, match="no question"):
        grade.grade_file(without)  # the bank of a folder that is not on record is a mere claim
    assert start.start_drill(inside, NAME).was_there
    assert grade.grade_file(without).tries == 1
    assert len(warned) == 1
    assert len(ctx.starts) == 2


def test_a_question_of_a_bank_is_not_shadowed_by_a_folder_of_that_name(
    ctx: Context, file: Path
) -> None:
    shutil.copytree(file.parent, shadow := ctx.current_folder() / "bank" / NAME)
    (shadow / ".drill").unlink()
    assert grade.grade_file(ctx, f"bank/{NAME}").path == file
    shutil.rmtree(file.parent)
    with pytest.raises(UsageError, match="does not belong to a started drill"):
        grade.grade_file(ctx, f"./bank/{NAME}")


def test_a_marker_of_another_user_is_ignored(
    ctx: Context, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = file.parent
    below = theirs / "sub"
    below.mkdir()
    (theirs / "QUESTION.md").unlink()
    other = replace(ctx, folder=below, data=tmp_path / "other")
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert start.start_drill(other, NAME).workspace.folder == below / NAME
    with pytest.raises(UsageError, match="was not made by drill start; it is left as it is"):
        start.start_drill(other, NAME, parent=theirs.parent)
    assert not (theirs / "QUESTION.md").exists()


def test_a_version_is_restored_only_into_a_folder_of_its_bank(
    ctx: Context, file: Path, tmp_path: Path
) -> None:
    file.write_bytes(b"# of the first bank\n")
    grade.grade_file(ctx)
    other = replace(ctx, bank=write_bank_at(tmp_path / "other"))
    second = start.start_drill(other, NAME, parent=tmp_path / "elsewhere").workspace
    second.submission.write_bytes(b"def scale(x, factor):\n    return x\n")
    at_second = replace(ctx, folder=second.folder, bank=None)
    assert history.restore_version(at_second, 1)[1] == file
    shutil.rmtree(file.parent)
    with pytest.raises(UsageError, match="which has no known folder"):
        history.restore_version(at_second, 1)
    assert second.submission.read_bytes() == b"def scale(x, factor):\n    return x\n"


@pytest.mark.usefixtures("file")
def test_progress_belongs_to_a_bank_and_moves_with_it(
    ctx: Context, bank: Path, tmp_path: Path
) -> None:
    other = replace(ctx, bank=write_bank_at(tmp_path / "other"))
    assert [grade.grade_file(ctx).tries for _ in range(2)] == [1, 0]
    assert [len(hint.next_hint(ctx, NAME).hints_to_show) for _ in range(2)] == [1, 1]
    for person, state, tries in ((ctx, "passed", 1), (other, "new", 0)):
        (row,) = list_and_next.list_questions(person)
        assert (row.question_progress.state, row.question_progress.tries) == (state, tries)
    assert not hint.next_hint(other, NAME).all
    with pytest.raises(UsageError, match="is shown when all parts pass"):
        solution.show_solution(other, NAME)
    second = start.start_drill(other, NAME, parent=tmp_path).workspace
    second.submission.write_bytes(b"def scale(x, factor):\n    return x\n")
    assert grade.grade_file(replace(other, folder=second.folder)).tries == 1
    # A copy has no progress; a bank that was moved keeps its progress.
    copy = Path(shutil.copytree(bank, tmp_path / "copy"))
    assert progress_of(ctx, copy).state == "new"
    moved = bank.rename(tmp_path / "moved")
    after_move = progress_of(ctx, moved)
    assert (after_move.state, after_move.tries, after_move.highest_hint) == ("passed", 1, 1)
    assert solution.show_solution(replace(ctx, bank=moved), NAME).passed
    venv = "lib/python3.{}/site-packages/grader/_bank"
    assert progress.is_about_question(str(tmp_path / venv.format(11)), venv.format(12), NAME)


def test_locked_records_cause_one_warning_and_no_failure(
    ctx: Context, file: Path, warned: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "BUSY_SECONDS", 0.01)
    with closing(sqlite3.connect(ctx.store.path)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        graded = grade.grade_file(ctx, NAME, file=file)
    assert (graded.report.verdict, graded.tries) == ("pass", 0)
    (warning,) = warned
    assert "database is locked" in warning


def test_without_records_a_hint_can_be_asked_for_by_its_number(
    ctx: Context, bank: Path, tmp_path: Path, warned: list[str]
) -> None:
    spec = bank / "questions" / f"{NAME}.yaml"
    spec.write_text(spec.read_text().replace("hints: [", "hints: [One, Two, "))
    (tmp_path / "file").touch()
    ctx = replace(ctx, data=tmp_path / "file" / "home")
    first = hint.next_hint(ctx, NAME)
    assert (first.hints_to_show, first.left, first.counted) == (((1, "One"),), 2, False)
    assert hint.next_hint(ctx, NAME, number=2).hints_to_show == ((2, "Two"),)
    assert len(warned) == 1
    with pytest.raises(UsageError, match="expected a number from 1 to 3, found 4"):
        hint.next_hint(ctx, NAME, number=4)


def test_an_interrupted_grade_hides_no_failing_case_of_the_grade_before(ctx: Context) -> None:
    drill = start.start_drill(ctx, NAME)
    grade.grade_file(ctx, NAME)
    before = history.checked_attempts(ctx, NAME, ctx.progress(drill.question))
    interrupted = ctx.new_event("begun", drill.question)
    assert ctx.write(lambda db: events.begin_attempt(db, interrupted, b"x = 1\n"))
    after = history.checked_attempts(ctx, NAME, ctx.progress(drill.question))
    assert [row.attempt.id for row in after] == [row.attempt.id for row in before] == [1]
