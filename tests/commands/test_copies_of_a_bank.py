"""Records belong to a question and the name of its bank: copies of a bank share them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import grader.bank
from grader.commands import (
    debrief,
    grade,
    hint,
    history,
    interview,
    list_and_next,
    open_interview,
    start,
)
from grader.commands.context import Context
from grader.commands.watched_drill import WatchedDrill
from grader.model.errors import UsageError
from grader.records import events, progress
from tests.commands import stand_in

ID = "mean-and-spread"
BANK = Path(__file__).parents[1] / "banks" / "parts"
WHEEL = "lib/python3.12/site-packages/grader/_bank"
STARTER_PARTS = "fail fail skipped"


@pytest.fixture(autouse=True)
def judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the verdict from the submission."""
    for module, name, function in stand_in.put_in_place():
        monkeypatch.setattr(module, name, function)


def use_builtin(bank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the program run from where this bank comes with it."""
    monkeypatch.setattr(grader.bank, "builtin", lambda: bank)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run the program from a checkout, as `pip install -e .` does."""
    clone = Path(shutil.copytree(BANK, tmp_path / "drillrepo"))
    (clone / "grader").mkdir()
    (clone / "grader" / "__init__.py").touch()
    use_builtin(clone, monkeypatch)
    return clone


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """Copy the bank to where `pip install .` puts it."""
    return Path(shutil.copytree(BANK, tmp_path / WHEEL))


@pytest.fixture
def ctx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    monkeypatch.delenv("DRILL_BANK", raising=False)
    monkeypatch.setenv("DRILL_HOME", str(tmp_path / "home"))
    (work := tmp_path / "work").mkdir()
    return Context(work, tmp_path / "home", lambda: "2026-01-02T03:04:05+00:00", who="ann")


def grade_text(ctx: Context, text: str) -> grade.GradeResult:
    (ctx.current_folder() / ID / "submission.py").write_text(text)
    return grade.grade_file(ctx, ID)


def progress_of(ctx: Context) -> progress.QuestionProgress:
    """Return the progress that a list of questions shows."""
    (question_progress,) = (
        row.question_progress for row in list_and_next.list_questions(ctx) if row.header.id == ID
    )
    return question_progress


def test_a_clone_and_a_wheel_share_all_records(
    ctx: Context, clone: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start.start_drill(ctx, ID)
    assert grade_text(ctx, "# fail\n").tries == 1
    hint.next_hint(ctx, ID)
    use_builtin(wheel, monkeypatch)
    assert (progress_of(ctx).state, progress_of(ctx).tries, progress_of(ctx).highest_hint) == (
        "tried",
        1,
        1,
    )
    second = grade_text(ctx, "# fail again\n")
    assert (second.tries, second.resolved_drill.question.bank) == (2, wheel)
    assert grade_text(ctx, "# pass\n").tries == 3
    use_builtin(clone, monkeypatch)
    assert (progress_of(ctx).state, progress_of(ctx).tries) == ("passed", 3)
    for name in (ID, f"drill/{ID}"):
        rows, _ = history.list_history(ctx, name)
        assert [row.attempt.verdict for row in rows] == ["fail", "fail", "pass"]
        assert [row.mark.sitting for row in rows] == [1, 1, 1]
    assert history.restore_version(ctx, 2)[1] == ctx.current_folder() / ID / "submission.py"
    assert list_and_next.suggest_question(ctx)[2] in {None, ctx.current_folder() / ID}  # type: ignore[index]


def test_a_folder_of_one_copy_is_accepted_with_another(
    ctx: Context, clone: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start.start_drill(ctx, ID)
    use_builtin(wheel, monkeypatch)
    assert clone.exists()
    assert start.start_drill(ctx, ID).was_there
    grade_text(ctx, "# fail\n")
    with WatchedDrill(ctx, ID) as watched:
        watched.grade_if_changed()
        assert watched.last_grade is not None
        assert watched.resolved_drill.is_started
        assert watched.resolved_drill.question.bank == wheel
    interview.begin_interview(ctx, [ID], minutes=45)
    current = open_interview.unclosed_interview(ctx)
    assert current is not None
    assert interview.current_drill(ctx, current) is not None
    assert grade_text(ctx, "# fail once more\n").tries == 2


def test_a_blind_interview_stays_blind_when_the_program_is_installed_again(
    ctx: Context, clone: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert clone.exists()
    interview.begin_interview(ctx, [ID], minutes=45, blind=True)
    current = open_interview.unclosed_interview(ctx)
    assert current is not None
    interview.current_drill(ctx, current)
    use_builtin(wheel, monkeypatch)
    with pytest.raises(grade.SealedError):
        grade_text(ctx, "# pass\n")
    assert [row.attempt.verdict for row in history.list_history(ctx, ID)[0]] == ["sealed"]
    open_interview.end_interview(ctx)
    shutil.rmtree(clone)
    assert debrief.make_debrief(ctx).questions[0].review


def write_old_history(folder: Path, *banks: Path) -> None:
    """Write a history as earlier versions did: each event has the path of a bank, and no name."""
    folder.mkdir()
    moment = "2026-01-01T00:00:00+00:00"
    with closing(sqlite3.connect(folder / events.FILE_NAME)) as db, db:
        for statement in events._TABLES:
            db.execute(statement)
        rows: list[tuple[object, ...]] = []
        for number, bank in enumerate(banks, 1):
            db.execute("INSERT INTO submissions VALUES (?, ?)", (f"sha{number}", b"# tried\n"))
            columns_of_all = (moment, "ann", "0.1.0", ID, str(bank), "digest")
            rows += [
                ("started", *columns_of_all, None, str(folder / ID), None, None, None),
                ("begun", *columns_of_all, number, None, f"sha{number}", None, None),
                ("graded", *columns_of_all, number, None, None, "fail", STARTER_PARTS),
            ]
        columns = "what, at, who, program, question, bank, digest, attempt, path, sha256, verdict"
        marks = ", ".join("?" * 12)
        db.executemany(f"INSERT INTO events ({columns}, parts) VALUES ({marks})", rows)


def test_an_old_history_counts_for_every_path_of_its_bank(
    ctx: Context, clone: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    banks = (clone, wheel, tmp_path / "venv" / WHEEL, tmp_path / "a-clone-that-is-gone")
    write_old_history(ctx.data, *banks)
    file = ctx.data / events.FILE_NAME
    before = file.read_bytes()
    file.chmod(0o400)
    ctx.data.chmod(0o500)  # nothing is written, so a folder that cannot be written will do
    try:
        for bank in (clone, wheel):
            use_builtin(bank, monkeypatch)
            assert progress_of(ctx).tries == len(banks)
            assert len(history.list_history(ctx, f"drill/{ID}")[0]) == len(banks)
    finally:
        ctx.data.chmod(0o700)
    assert file.read_bytes() == before


def test_banks_of_the_same_name_share_records_and_others_do_not(
    ctx: Context, tmp_path: Path
) -> None:
    first, copy, other = (
        Path(shutil.copytree(BANK, tmp_path / name)) for name in ("a/mine", "b/mine", "other")
    )
    contexts = {bank: replace(ctx, bank=bank) for bank in (first, copy, other)}
    start.start_drill(contexts[first], ID)
    assert grade_text(contexts[first], "# fail\n").tries == 1
    assert (progress_of(contexts[copy]).tries, progress_of(contexts[other]).tries) == (1, 0)
    assert grade_text(contexts[copy], "# fail again\n").tries == 2
    with pytest.raises(UsageError, match="was started for"):
        start.start_drill(contexts[other], ID)
    file = tmp_path / "c" / "mine.yaml"
    assert progress.is_same_bank(str(first), str(file))
    assert not progress.is_same_bank(str(tmp_path / "drill"), str(tmp_path / WHEEL))
