"""`drill grade` finds the drill, refuses what is no file, records, ends with the right status."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.cli import stand_in
from tests.cli.conftest import Drill

SUBMISSION = Path("double-trouble/submission.py")


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        *(("pass", 0), ("fail", 1), ("error", 1), ("limit", 1)),
        *(("invalid", 3), ("internal", 4)),
    ],
)
def test_the_verdict_sets_the_exit_status(drill: Drill, verdict: str, status: int) -> None:
    drill("start", "double-trouble")
    SUBMISSION.write_text(f"# {verdict}\n")
    ended = drill("grade")
    assert ended.status == status
    assert ended.err == ""
    assert ended.out.startswith(verdict.upper())
    assert "double-trouble" in ended.out
    (attempt,) = drill("history", "--json").data["attempts"]
    assert (attempt["verdict"], attempt["isolation"]) == (verdict, "process")


def test_a_fail_says_how_to_go_on_and_how_to_repeat_it(drill: Drill) -> None:
    drill("start", "double-trouble")
    out = drill("grade", "--seed", "8121").out
    assert "FAIL  double-trouble/submission.py   double-trouble   try 1, seed 8121\n" in out
    assert "Next: drill case one   drill hint\n" in out
    for _ in range(3):
        drill("hint")
    assert "drill solution --give-up" in drill("grade").out


def test_a_question_is_proved_once_there_is_a_verdict_of_its_checks_on_it_as_it_is(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    proved: list[bool] = []
    monkeypatch.setattr(stand_in, "PROVED", proved)
    drill("start", "double-trouble")
    for verdict, digest in (
        ("error", "a"),
        ("fail", "a"),
        ("error", "a"),
        ("fail", "a"),
        ("pass", "b"),
    ):
        monkeypatch.setattr(stand_in, "DIGEST", digest)
        Path("double-trouble/submission.py").write_text(f"# {verdict}\n")
        drill("grade")
    drill("grade")
    assert proved == [False, False, True, True, False, True]


def test_the_drill_is_that_of_the_folder_or_the_one_that_is_named(
    drill: Drill, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def graded(*arguments: str) -> str:
        return str(drill("grade", "--json", *arguments).data["question"])

    drill("start", "double-trouble")
    assert graded() == "double-trouble"  # the only one right below
    drill("start", "halve-well")
    ended = drill("grade")
    ended.refused(
        "2 drills are in this folder, and none is named",
        "    Next: cd halve-well   cd double-trouble\n",
    )
    assert graded("double-trouble") == "double-trouble"
    assert graded("--file", "double-trouble/submission.py") == "double-trouble"
    monkeypatch.chdir("double-trouble")
    assert graded() == "double-trouble"
    Path("deeper").mkdir()
    monkeypatch.chdir("deeper")
    assert graded() == "double-trouble"
    monkeypatch.chdir(tmp_path / "home")
    assert graded("double-trouble") == "double-trouble"


def test_a_drill_elsewhere_is_named_and_not_taken_in_silence(
    drill: Drill, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drill("start", "double-trouble")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "away").mkdir()
    monkeypatch.chdir(tmp_path / "away")
    for command in ("grade", "reset", "hint", "solution"):
        ended = drill(command)
        assert (ended.status, ended.out) == (2, "")
        assert "no drill in this folder; the last one was double-trouble, in ~/work" in ended.err
        next_step = f"Next: cd ~/work/double-trouble   drill {command} double-trouble\n"
        assert ended.err.endswith(next_step)
    assert drill("history", "--json").data["attempts"] == []


@pytest.mark.parametrize("below", [False, True])
def test_a_submission_of_no_known_drill_is_left_alone(
    drill: Drill, monkeypatch: pytest.MonkeyPatch, *, below: bool
) -> None:
    drill("start", "double-trouble")
    folder = Path("double-trouble/copy" if below else "other")
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("submission.py").write_text("# pass\n")
    for command in ("grade", "reset"):
        ended = drill(command)
        ended.refused(
            "does not belong to a started drill",
            "Next: drill grade ID --file submission.py   drill list\n",
        )
    assert Path("submission.py").read_text() == "# pass\n"
    assert drill("history", "--json").data["attempts"] == []


def test_an_older_copy_is_not_graded_in_place_of_a_folder_that_is_gone(
    drill: Drill, tmp_path: Path
) -> None:
    drill("start", "double-trouble", "--dir", str(tmp_path / "first"))
    drill("start", "double-trouble", "--dir", str(tmp_path / "second"))
    assert drill("grade", "double-trouble").status == 1
    shutil.rmtree(tmp_path / "second")
    for command in ("grade", "reset"):
        ended = drill(command, "double-trouble")
        ended.refused(
            "the folder of double-trouble is gone",
            "Next: drill start double-trouble   drill history\n",
        )
    assert drill("hint", "double-trouble").status == 0


def refused(drill: Drill, path: str) -> str:
    ended = drill("grade", "double-trouble", "--file", path)
    assert ended.status == 2
    assert ended.out == ""
    assert ended.err.count("\n") <= 2
    assert drill("history", "--json").data["attempts"] == []
    return ended.err


def test_a_file_that_is_none_is_refused_in_a_sentence(drill: Drill) -> None:
    Path("folder").mkdir()
    os.mkfifo("pipe")
    Path("large.py").write_bytes(b"#" * 10_000_000)
    Path("loop").symlink_to("loop")
    Path("whole.py").write_text("# pass")
    Path("link.py").symlink_to("whole.py")
    assert "found a folder" in refused(drill, "folder")
    assert "found a pipe" in refused(drill, "pipe")
    assert "found a device" in refused(drill, "/dev/null")
    assert "at most 1,000,000 bytes, found 10,000,000" in refused(drill, "large.py")
    assert "there is no such file" in refused(drill, "missing.py")
    assert "nor the folder" in refused(drill, "no/where.py")
    assert "found a symbolic link, which is not followed" in refused(drill, "loop")
    assert "found a symbolic link, which is not followed" in refused(drill, "link.py")
    assert "found a device" in refused(drill, "/dev/zero")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"def (", b"# fail\r\n", b"\0"])
def test_any_small_file_reaches_the_judge(drill: Drill, content: bytes) -> None:
    Path("any.py").write_bytes(content)
    assert drill("grade", "double-trouble", "--file", "any.py").status == 1
    drill("history", "restore", "1", "--to", "back.py")
    assert Path("back.py").read_bytes() == content


def test_a_seed_beyond_what_is_recorded_is_refused(drill: Drill) -> None:
    drill("start", "double-trouble")
    assert drill("grade", "--seed", str(2**63)).status == 2
    assert drill("grade", "--seed", str(2**63 - 1)).status == 1
