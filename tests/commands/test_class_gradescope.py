"""The archive of `drill class gradescope`: unpacked, and run for real."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from grader import bank
from grader.commands import class_gradescope
from grader.commands.context import Context
from grader.model.errors import UsageError
from grader.model.limits import AUTOGRADER_SECONDS
from grader.sandbox.client import Isolation, WorkerClient
from tests.classroom.builders import BANK, NOW, PROGRAMS, REFERENCE
from tests.classroom.test_export import assert_gradescope


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive for one question, at a level that every machine reaches."""
    folder = tmp_path_factory.mktemp("made")
    file = folder / "autograder.zip"
    file.write_bytes(class_gradescope.build_autograder(context(folder), ["deviations"], "process"))
    return file


def context(folder: Path) -> Context:
    """A person in a folder, with the small bank."""
    return Context(folder, folder / "data", lambda: NOW, bank=BANK)


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """Everything as Gradescope lays it out, before a submission is graded."""
    for name in ("source", "submission", "results"):
        (tmp_path / name).mkdir()
    with zipfile.ZipFile(made) as archive:
        archive.extractall(tmp_path / "source")
    (tmp_path / "run_autograder").write_bytes((tmp_path / "source/run_autograder").read_bytes())
    return tmp_path


def graded(root: Path, python: str = sys.executable, seconds: str = "60") -> dict[str, Any]:
    """Run the autograder, with the Python of the tests in place of the one setup.sh makes."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DRILL_")}
    environment |= {
        "DRILL_AUTOGRADER": str(root), "DRILL_PYTHON": python, "DRILL_SECONDS": seconds,
    }  # fmt: skip
    ended = subprocess.run(
        ["sh", root / "run_autograder"], cwd=root, env=environment, capture_output=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    result: dict[str, Any] = json.loads((root / "results" / "results.json").read_text())
    assert_gradescope(result)
    assert [path.name for path in (root / "results").iterdir()] == ["results.json"]
    return result


def test_settings_that_affect_points_are_in_the_archive(tmp_path: Path) -> None:
    keys = {"partial": "checks", "on_error": "stop", "stretch": True, "isolation": "process"}
    file = tmp_path / "class.yaml"
    file.write_text(json.dumps({"format": 1, "questions": ["deviations"], "seed": 5, **keys}))
    (tmp_path / "made.zip").write_bytes(
        class_gradescope.build_autograder(context(tmp_path), [], "", file)
    )
    with zipfile.ZipFile(tmp_path / "made.zip") as archive:
        there = yaml.safe_load(archive.read("class.yaml"))
    assert keys.items() <= there.items()


def test_a_submission_is_graded(root: Path) -> None:
    # Nothing that lies beside it is imported or read.
    (root / "submission" / "grader.py").write_text("raise SystemExit(1)\n")
    (root / "submission" / "class.yaml").write_text("format: 9\n")
    (root / "submission" / "deviations.py").write_text(REFERENCE)
    (test,) = graded(root)["tests"]
    assert (test["score"], test["max_score"], test["status"]) == (100, 100, "passed")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("python", "stopped before it was done"),
        ("class.yaml", "class.yaml"),
        ("bank/questions/deviations.yaml", "deviations.yaml"),
        ("time", "longer than Gradescope gives"),
    ],
)
def test_there_is_a_result_after_every_failure(root: Path, damage: str, message: str) -> None:
    (root / "submission" / "deviations.py").write_text("import time\ntime.sleep(20)\n" + REFERENCE)
    if damage not in {"python", "time"}:
        (root / "source" / damage).write_text("x: [")
    python = "/nowhere/python" if damage == "python" else sys.executable
    result = graded(root, python, seconds="1" if damage == "time" else "60")
    (test,) = result["tests"]
    assert "score" not in test
    assert "score" not in result
    assert test["name"] == "NOT GRADED"
    assert message in test["output"]
    assert "To the instructor: " in test["output"]
    assert AUTOGRADER_SECONDS < 600  # when Gradescope ends it, with a zero


def test_an_empty_submission_earns_no_points_without_grading(root: Path) -> None:
    (test,) = graded(root)["tests"]
    assert (test["score"], test["status"]) == (0, "failed")
    assert "nothing handed in" in test["output"]
    (root / "submission" / "README.md").write_text("deviations\n")
    (root / "submission" / "deviations.py").symlink_to(PROGRAMS / "reference.py")
    os.mkfifo(root / "submission" / "pipe.py")
    (test,) = graded(root)["tests"]
    assert (test["score"], test["status"]) == (0, "failed")
    assert "a link, which is not followed" in test["output"]


def test_too_little_isolation_gives_advice_to_the_instructor(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WorkerClient, "isolation", Isolation({}, ("no wall",)))
    (root / "source" / "class.yaml").write_text("format: 1\nquestions: [deviations]\n")
    class_gradescope.grade_submission(str(root), str(root / "source"))
    (test,) = json.loads((root / "results" / "results.json").read_text())["tests"]
    assert "isolation: expected strong, found " in test["output"]
    assert "--isolation " in test["output"]


def test_the_archive_has_everything_for_the_setup(made: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(made) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
        modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
        archive.extractall(tmp_path)
    assert all(modes[name] & stat.S_IXUSR for name in ("setup.sh", "run_autograder"))
    assert files["run_autograder"].startswith(b"#!")
    for name in ("setup.sh", "run_autograder"):
        subprocess.run(["bash", "-n", tmp_path / name], check=True)
        assert b"http" not in files[name]
    pinned = files["requirements.txt"].decode().split()
    assert {line.partition("==")[0] for line in pinned} >= {"numpy", "pydantic", "pyyaml"}
    assert all("==" in line for line in pinned)
    assert "torch" not in files["requirements.txt"].decode()
    assert "program/grader/__init__.py" in files
    assert not any("_bank" in name or "__pycache__" in name for name in files)
    digest = bank.load_question([BANK], "deviations").digest
    assert bank.load_question([tmp_path / "bank"], "deviations").digest == digest
    with pytest.raises(UsageError, match="no question ledger"):
        bank.load_question([tmp_path / "bank"], "ledger")
    assert made.stat().st_size < 2_000_000
    assert str(BANK).encode() not in b"".join(
        files[name] for name in files if "program" not in name
    )


def test_a_class_yaml_gives_the_parts_and_weights(tmp_path: Path) -> None:
    file = tmp_path / "class.yaml"
    file.write_text(
        "format: 1\nseed: 11\nisolation: process\n"
        "questions: [{id: deviations, weight: 2, hidden: [slopes]}, ledger]\n"
    )
    archive = tmp_path / "a.zip"
    archive.write_bytes(class_gradescope.build_autograder(context(tmp_path), (), file=file))
    with zipfile.ZipFile(archive) as opened:
        there = yaml.safe_load(opened.read("class.yaml"))
    assert (there["seed"], there["isolation"]) == (11, "process")
    assert there["questions"] == [
        {"id": "deviations", "weight": 2, "hidden": ["slopes"]}, {"id": "ledger"},
    ]  # fmt: skip
