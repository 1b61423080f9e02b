"""`drill start` and `drill reset` lay down what is missing and write over nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Drill
from tests.cli.stand_in import STARTER

pytestmark = pytest.mark.usefixtures("one_zygote")

FOLDER = Path("double-trouble")
SUBMISSION = FOLDER / "submission.py"


def test_start_lays_down_the_starter_the_question_and_a_marker(drill: Drill) -> None:
    ended = drill("start", "double-trouble")
    assert ended.status == 0
    assert ended.err == ""
    assert SUBMISSION.read_bytes() == STARTER
    text = (FOLDER / "QUESTION.md").read_text()
    for expected in ("# The sum that came", "25 min", "def double(x):", "drill grade"):
        assert expected in text
    assert json.loads((FOLDER / ".drill").read_text())["question"] == "double-trouble"
    assert sorted(p.name for p in FOLDER.iterdir()) == [".drill", "QUESTION.md", "submission.py"]
    assert "A colleague doubles numbers" in ended.out
    assert ended.out.endswith(
        "Edit  double-trouble/submission.py\nNext: cd double-trouble   drill grade\n"
    )


def test_start_again_leaves_work_alone_and_shows_the_question(drill: Drill) -> None:
    drill("start", "double-trouble")
    marker = (FOLDER / ".drill").read_bytes()
    SUBMISSION.write_text("mine")
    ended = drill("start", "double-trouble")
    assert ended.status == 0
    assert "Edit  double-trouble/submission.py   it is yours and was left as it is" in ended.out
    assert "A colleague doubles numbers" in ended.out
    assert SUBMISSION.read_text() == "mine"
    assert (FOLDER / ".drill").read_bytes() == marker


def test_start_inside_the_drills_own_folder_nests_nothing(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    drill("start", "double-trouble")
    monkeypatch.chdir(FOLDER)
    out = drill("start", "double-trouble").out
    assert out.endswith("submission.py   it is yours and was left as it is\nNext: drill grade\n")
    assert not FOLDER.exists()


@pytest.mark.parametrize("name", ["submission.py", "QUESTION.md"])
def test_start_refuses_a_folder_with_work_in_it(drill: Drill, name: str) -> None:
    FOLDER.mkdir()
    (FOLDER / name).write_text("mine")
    drill("start", "double-trouble").refused("was not made by drill start; it is left as it is")
    assert [p.name for p in FOLDER.iterdir()] == [name]
    assert (FOLDER / name).read_text() == "mine"


def test_start_refuses_the_folder_of_another_drill(drill: Drill) -> None:
    drill("start", "halve-well")
    Path("halve-well").rename("double-trouble")
    ended = drill("start", "double-trouble")
    ended.refused("expected a folder for double-trouble, found that of halve-well")


def test_start_refuses_a_file_in_the_folders_place(drill: Drill) -> None:
    FOLDER.write_text("a file")
    drill("start", "double-trouble").refused("the folder cannot be made: File exists")
    assert FOLDER.read_text() == "a file"


@pytest.mark.parametrize("target", ["elsewhere", "nowhere"])
def test_start_refuses_a_symbolic_link_in_the_folders_place(drill: Drill, target: str) -> None:
    Path("elsewhere").mkdir()
    FOLDER.symlink_to(target)
    drill("start", "double-trouble").refused(f"found a symbolic link to {target}")
    assert not list(Path("elsewhere").iterdir())


def test_a_broken_marker_is_one_sentence(drill: Drill) -> None:
    drill("start", "double-trouble")
    for text in ("{", "[]", '{"question": 3}', "\0" * 20):
        (FOLDER / ".drill").write_text(text)
        drill("start", "double-trouble").refused("expected what drill start wrote there")


def test_reset_keeps_a_numbered_copy_beside_and_in_the_records(drill: Drill) -> None:
    drill("start", "double-trouble")
    for number, text in enumerate(("first", "second"), 1):
        SUBMISSION.write_text(text)
        ended = drill("reset")
        copy = FOLDER / f"submission.before-reset-{number}.py"
        assert ended.status == 0
        assert str(copy) in ended.out
        assert copy.read_text() == text
        assert SUBMISSION.read_bytes() == STARTER
    kept = drill("history", "--json").data["attempts"]
    assert [(a["kind"], a["verdict"]) for a in kept] == [("kept", None)] * 2
    drill("history", "restore", "1", "--to", "back.py")
    assert Path("back.py").read_text() == "first"


def test_reset_does_not_follow_a_symbolic_link(drill: Drill) -> None:
    drill("start", "double-trouble")
    Path("mine.py").write_text("mine")
    SUBMISSION.unlink()
    SUBMISSION.symlink_to(Path("mine.py").absolute())
    drill("reset").refused("found a symbolic link")
    assert SUBMISSION.is_symlink()
    assert Path("mine.py").read_text() == "mine"
