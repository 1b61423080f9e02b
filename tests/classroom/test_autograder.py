"""What `drill class gradescope` makes: unpacked, and run for real."""

from __future__ import annotations

import base64
import email
import hashlib
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

from grader import open_question
from grader.app import alone, autograder, packing
from grader.app.context import Context
from grader.model.errors import UsageError
from tests.classroom.fakes import NOW
from tests.classroom.handing_in import notebook
from tests.classroom.test_platforms import assert_gradescope

BANK = Path(__file__).parents[1] / "banks" / "mini"
PROGRAMS = BANK / "drills" / "deviations"
REFERENCE = (PROGRAMS / "reference.py").read_text()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive for one question, at a level that every machine reaches."""
    folder = tmp_path_factory.mktemp("made")
    file = folder / "autograder.zip"
    file.write_bytes(autograder.gradescope(context(folder), ["deviations"], "process"))
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


def graded(root: Path, python: str = sys.executable) -> dict[str, Any]:
    """Run the autograder, with the Python of the tests in place of the one setup.sh makes."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DRILL_")}
    environment |= {"DRILL_AUTOGRADER": str(root), "DRILL_PYTHON": python}
    ended = subprocess.run(
        ["sh", root / "run_autograder"], cwd=root, env=environment, capture_output=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads((root / "results" / "results.json").read_text())
    assert_gradescope(found)
    assert [path.name for path in (root / "results").iterdir()] == ["results.json"]
    return found


def test_a_submission_is_graded(root: Path) -> None:
    # Nothing that lies beside it is imported or read.
    (root / "submission" / "grader.py").write_text("raise SystemExit(1)\n")
    (root / "submission" / "class.yaml").write_text("format: 9\n")
    (root / "submission" / "deviations.py").write_text(REFERENCE)
    (test,) = graded(root)["tests"]
    assert (test["score"], test["max_score"], test["status"]) == (100, 100, "passed")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("python", "stopped before it came to an end"),
        ("settings", "settings.json cannot be read"),
    ],
)
def test_whatever_happens_there_is_a_result(root: Path, damage: str, said: str) -> None:
    (root / "submission" / "deviations.py").write_text(REFERENCE)
    if damage != "python":
        (root / "source" / "settings.json").write_text("")
    found = graded(root, "/nowhere/python" if damage == "python" else sys.executable)
    (test,) = found["tests"]
    assert "score" not in test
    assert "score" not in found
    assert test["name"] == "NOT GRADED"
    assert said in test["output"]
    assert "To the instructor: " in test["output"]


def test_nothing_handed_in_earns_nothing_without_a_grade(root: Path) -> None:
    (root / "submission" / "README.md").write_text("deviations\n")
    (root / "submission" / "deviations.py").symlink_to(PROGRAMS / "reference.py")
    (test,) = graded(root)["tests"]
    assert (test["score"], test["status"]) == (0, "failed")
    assert "nothing handed in" in test["output"]


def test_what_takes_too_long_is_a_fault_before_the_platform_makes_it_a_zero(root: Path) -> None:
    (root / "submission" / "deviations.py").write_text(REFERENCE)
    file = root / "source" / "settings.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"seconds": 0.01}))
    found = alone.graded(root / "submission", root / "source")
    assert found.fault == "it took longer than 0.01 seconds"
    assert alone.SECONDS < 600  # where Gradescope ends it, with a zero


@pytest.mark.parametrize("level", ["limited", "process"])
def test_too_little_isolation_says_what_the_instructor_has_to_do(level: str) -> None:
    said = [
        f"drill: isolation: expected strong, found {level}: a submission may do what it must not"
    ]
    why, instructor = alone._why(said, 2)
    assert f"found {level}" in why
    assert f"--isolation {level}" in instructor


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["max-pool.py"], ["max-pool.py"]), (["max_pool.py", "x.py"], ["max_pool.py"]),
        (["max-pool/submission.py"], ["max-pool/submission.py"]),
        (["submission.py"], ["submission.py"]),
        (["whatever.py", "notes.txt"], ["whatever.py"]), (["a.py", "b.py"], []), ([], []),
        (["max-pool.ipynb"], ["max-pool.ipynb"]),
    ],
)  # fmt: skip
def test_which_file_answers_a_question(tmp_path: Path, names: list[str], found: list[str]) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    taken = [path for _, path in alone.find(tmp_path, ["max-pool"])]
    assert taken == [tmp_path / name for name in found]
    # Of several questions each has to be named.
    several = [name for name, _ in alone.find(tmp_path, ["max-pool", "adam"])]
    assert several == (["max-pool"] if found and "max" in found[0] else [])


def test_no_link_and_no_pipe_is_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "submission.py").write_text("x = 1\n")
    (tmp_path / "pool").symlink_to(tmp_path / "secret")
    (tmp_path / "pool.py").symlink_to(tmp_path / "secret" / "submission.py")
    os.mkfifo(tmp_path / "pool.ipynb")
    assert list(alone.find(tmp_path, ["pool", "x"])) == []
    assert not alone.copied_to(tmp_path / "pool.py", tmp_path / "copy.py")
    # The folder itself is the platform's, and may be one.
    assert [name for name, _ in alone.find(tmp_path / "pool", ["x"])] == ["x"]


def test_a_notebook_may_have_pictures(tmp_path: Path) -> None:
    book, copy = tmp_path / "pool.ipynb", tmp_path / "copy.ipynb"
    shown = [{"output_type": "display_data", "data": {"image/png": "A" * 2_000_000}}]
    content = notebook(REFERENCE, metadata={"shown": shown})
    book.write_bytes(content)
    assert alone.copied_to(book, copy)
    assert copy.read_bytes() == content


@pytest.mark.parametrize(
    ("name", "said"),
    [("a.py", "at most 1,000,000 bytes, found more"),
     ("a.ipynb", "a notebook of at most 16,000,000 bytes, found more")],
)  # fmt: skip
def test_what_is_too_large_is_said_and_never_cut(root: Path, name: str, said: str) -> None:
    content = REFERENCE.encode() + b"#" if name.endswith("py") else notebook(REFERENCE)
    (root / "submission" / name).write_bytes(content.ljust(17_000_000))
    assert any(said in test["output"] for test in graded(root)["tests"])


def test_the_archive_holds_what_setting_up_needs(made: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(made) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
        modes = {one.filename: one.external_attr >> 16 for one in archive.infolist()}
    assert all(modes[name] & stat.S_IXUSR for name in ("setup.sh", "run_autograder"))
    assert held["run_autograder"].startswith(b"#!")
    for name in ("setup.sh", "run_autograder"):
        (tmp_path / name).write_bytes(held[name])
        subprocess.run(["bash", "-n", tmp_path / name], check=True)
        assert b"http" not in held[name]
    pinned = held["requirements.txt"].decode().split()
    assert {line.partition("==")[0] for line in pinned} >= {"numpy", "pydantic", "pydantic-core"}
    assert all("==" in line for line in pinned)
    assert "torch" not in held["requirements.txt"].decode()
    with zipfile.ZipFile(made) as archive:
        archive.extractall(tmp_path)
    question = open_question("deviations", BANK)
    assert open_question("deviations", tmp_path / "bank").digest == question.digest
    with pytest.raises(UsageError, match="no question ledger"):
        open_question("ledger", tmp_path / "bank")
    assert made.stat().st_size < 2_000_000


def test_the_wheel_is_one(made: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(made) as archive:
        (tmp_path / packing.WHEEL).write_bytes(archive.read(packing.WHEEL))
    with zipfile.ZipFile(tmp_path / packing.WHEEL) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    (about,) = {name.split("/")[0] for name in held} - {"grader"}
    record = dict(line.split(",")[:2] for line in held[f"{about}/RECORD"].decode().splitlines())
    assert record.keys() == held.keys()
    for name, content in held.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
        assert name.endswith("RECORD") or record[name] == f"sha256={digest.decode()}"
    required = email.message_from_bytes(held[f"{about}/METADATA"]).get_all("Requires-Dist")
    assert any(one.startswith("numpy") for one in required or [])
    assert "grader/py.typed" in held
    assert not any("_bank" in name for name in held)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    offline = ["--no-index", "--no-deps", "--target", str(tmp_path / "site")]
    subprocess.run([*pip, *offline, tmp_path / packing.WHEEL], check=True)
    assert (tmp_path / "site" / "grader" / "__init__.py").exists()


def test_two_times_the_same_is_made(tmp_path: Path) -> None:
    question = open_question("deviations", BANK)
    assert packing.bank([question]) == packing.bank([question])
    assert packing.wheel() == packing.wheel()
    with pytest.raises(UsageError, match="found deviations twice"):
        packing.bank([question, question])


def test_a_class_yaml_names_what_counts(tmp_path: Path) -> None:
    file = tmp_path / "class.yaml"
    file.write_text(
        "format: 1\nseed: 11\nisolation: process\n"
        "questions: [{id: deviations, weight: 2, hidden: [slopes]}, ledger]\n"
    )
    archive = tmp_path / "a.zip"
    archive.write_bytes(autograder.gradescope(context(tmp_path), (), file=file))
    with zipfile.ZipFile(archive) as held:
        held.extractall(tmp_path / "home")
    settings = alone.read_settings(tmp_path / "home")
    first, second = settings.asked
    assert (first.id, first.weight, first.hidden, second.id) == (
        "deviations",
        2,
        ("slopes",),
        "ledger",
    )
    assert str(BANK) not in (tmp_path / "home" / "settings.json").read_text()
    course = yaml.safe_load((tmp_path / "home" / "class.yaml").read_text())
    assert (course["seed"], course["isolation"]) == (11, "process")


@pytest.mark.parametrize(
    ("ids", "level", "said"),
    [
        (["nothing"], "", "no question nothing"),
        (["ledger"], "iron", "found iron"),
        ([], "", "neither"),
    ],
)
def test_what_cannot_be_made_is_said(tmp_path: Path, ids: list[str], level: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        autograder.gradescope(context(tmp_path), ids, level)
