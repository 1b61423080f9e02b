"""The scratch folder is removed with any content, and nothing outside it is."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import pytest

from grader.sandbox import scratch_folder
from grader.sandbox.scratch_folder import ScratchFolder


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_files_of_a_program_are_removed_and_targets_of_links_are_not(temporary: Path) -> None:
    kept = temporary / "kept"
    kept.mkdir()
    (kept / "file").write_text("mine")
    made = ScratchFolder()
    inside = Path(made.folder)
    (inside / "link").symlink_to(kept)
    (inside / "locked").mkdir()
    (inside / "locked" / "file").touch()
    (inside / "locked").chmod(0)
    (inside / "up-0").mkdir()
    (inside / "name with \n newline").touch()
    made.remove()
    made.remove()
    assert [p.name for p in temporary.iterdir()] == ["kept"]
    assert (kept / "file").read_text() == "mine"


def test_a_tree_deeper_than_the_longest_path_is_removed(temporary: Path) -> None:
    made = ScratchFolder()
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(made.folder)
        for _ in range(3000):
            Path("deeper").mkdir()
            os.chdir("deeper")
    finally:
        os.fchdir(here)
        os.close(here)
    made.remove()
    assert not list(temporary.iterdir())


def test_folders_of_killed_judges_are_removed_and_folders_in_use_are_not(temporary: Path) -> None:
    old = time.time() - 3600
    abandoned, used, young = ScratchFolder(), ScratchFolder(), ScratchFolder()
    for dead in (abandoned, young):
        fcntl.flock(dead._lock, fcntl.LOCK_UN)
    for aged in (abandoned, used):
        os.utime(aged.root, (old, old))
    foreign = temporary / "drill-worker-of-somebody"
    foreign.mkdir()
    (foreign / "file").touch()
    os.utime(foreign, (old, old))
    (temporary / "drill-worker-empty").mkdir()
    os.utime(temporary / "drill-worker-empty", (old, old))
    (temporary / "drill-worker-link").symlink_to(foreign)
    scratch_folder.clear_stale()
    stay = {used.root, young.root, foreign, temporary / "drill-worker-link"}
    assert set(temporary.iterdir()) == stay
    used.remove()
    young.remove()


def test_folders_of_a_person_are_not_removed(temporary: Path) -> None:
    mine = [temporary / "drill-results", temporary / "drill-notes"]
    for folder in mine:
        folder.mkdir()
    (mine[0] / "lock").touch()
    for folder in mine:
        os.utime(folder, (0, 0))
    scratch_folder.clear_stale()
    assert {*temporary.iterdir()} == {*mine}


def test_a_relative_temporary_folder_becomes_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", ".")
    made = ScratchFolder()
    assert made.root.parent == tmp_path
    assert Path(made.folder).is_absolute()
    made.remove()
