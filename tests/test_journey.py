"""A drill without torch and one that is interrupted, with the program in processes of its own."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.commands.conftest import CommandResult
from tests.leftovers import all_end

ROOT = Path(__file__).parents[1]
REFERENCE = (ROOT / "drills" / "maxpool-routing" / "reference.py").read_bytes()
SUBMISSION = Path("maxpool-routing", "submission.py")

# The command line where torch cannot be found, as on a machine without it.
WITHOUT_TORCH = """
import sys

class Blind:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, *more):
        return None if name.split(".")[0] == "torch" else self.finder.find_spec(name, *more)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = [Blind(finder) for finder in sys.meta_path]
from grader.commands.app import main
main()
"""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody at a terminal: a folder, a home for the records, a width."""

    folder: Path
    environment: Mapping[str, str]
    command: tuple[str, ...] = (sys.executable, "-m", "grader")

    def drill(self, *arguments: str, **extra: str) -> CommandResult:
        done = subprocess.run(
            [*self.command, *arguments],
            cwd=self.folder,
            env={**self.environment, **extra},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return CommandResult(done.returncode, done.stdout, done.stderr)

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command in a process group of its own, as a shell does."""
        return subprocess.Popen(
            [*self.command, *arguments],
            cwd=self.folder,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def write(self, source: bytes) -> None:
        (self.folder / SUBMISSION).write_bytes(source)

    def read(self) -> bytes:
        return (self.folder / SUBMISSION).read_bytes()


@pytest.fixture
def person(tmp_path: Path) -> Person:
    folder, scratch = tmp_path / "work", tmp_path / "scratch"
    folder.mkdir()
    scratch.mkdir()
    environment = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "TMPDIR": str(scratch),
        "DRILL_HOME": str(tmp_path / "home"),
        "COLUMNS": "80",
    }
    return Person(folder, environment)


def test_without_torch_only_its_questions_are_closed(person: Person) -> None:
    blind = Person(person.folder, person.environment, (sys.executable, "-c", WITHOUT_TORCH))
    ended = blind.drill("doctor")
    assert (ended.status, "MISSING torch: not installed" in ended.out) == (0, True)
    assert blind.drill("start", "vram-bottleneck").status == 0
    refused = blind.drill("grade", "vram-bottleneck")
    assert (refused.status, refused.out) == (2, "")
    assert "vram-bottleneck needs torch, which is not installed" in refused.err
    assert "pip install" in refused.err
    assert blind.drill("history", "--json").data["attempts"] == []
    blind.drill("start", "maxpool-routing")
    person.write(REFERENCE)
    assert blind.drill("grade", "maxpool-routing").status == 0


# -- interrupted -----------------------------------------------------------------------------------


def sleeping_grade(person: Person, tmp_path: Path) -> tuple[subprocess.Popen[str], bytes]:
    """A grade whose submission has begun to sleep, and the submission."""
    source = b"""\
def maxpool2d_forward(x, kernel, stride, padding=0):
    open("called", "w").close()
    while True:
        pass


def maxpool2d_backward(grad_y, ctx):
    return None
"""
    person.drill("start", "maxpool-routing")
    person.write(source)
    grade = person.begin("grade", "--seed", "1")
    deadline = time.monotonic() + 60
    while not list((tmp_path / "scratch").glob("*/scratch/called")):  # in the worker's own folder
        assert time.monotonic() < deadline, "the submission was never called"
        select.select([], [], [], 0.01)
    return grade, source


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@LINUX
def test_ctrl_c_ends_a_grade_and_all_it_started(person: Person, tmp_path: Path) -> None:
    grade, source = sleeping_grade(person, tmp_path)
    os.killpg(grade.pid, signal.SIGINT)
    out, err = grade.communicate(timeout=30)
    assert grade.returncode == 130
    assert (out, err) == ("", "interrupted\n")
    assert all_end(tmp_path / "scratch")
    assert list((tmp_path / "scratch").iterdir()) == []
    (attempt,) = person.drill("history", "--json").data["attempts"]
    assert (attempt["verdict"], attempt["seed"]) == (None, 1)
    assert "unfinished" in person.drill("history").out
    assert person.read() == source
    person.drill("history", "restore", "1", "--to", "back.py")
    assert (person.folder / "back.py").read_bytes() == source
