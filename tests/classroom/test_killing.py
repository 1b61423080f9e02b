"""A class that is killed, or interrupted, again and again: nothing lost, doubled or left running.

Each command runs under a host that adopts whatever it leaves behind, and waits until all is gone.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from grader.classroom.results import TABLE, Results

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="adopts processes, as Linux can")

ROOT = Path(__file__).parents[2]
BANK = ROOT / "tests" / "banks" / "mini"
REFERENCE = BANK / "drills" / "deviations" / "reference.py"
HOST = """
import ctypes, os, signal, subprocess, sys
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER
number, after, *command = sys.argv[1:]
process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
for _ in range(int(after)):
    process.stdout.readline()
if int(number):
    os.killpg(process.pid, int(number)) if int(number) == signal.SIGINT else process.kill()
process.stdout.read()
print(process.wait())
try:
    while True:
        os.wait()
except ChildProcessError:
    print("alone")
"""
NOTHING, SIGINT, SIGKILL = 0, 2, 9


def run(folder: Path, number: int, after: int = 0) -> subprocess.CompletedProcess[str]:
    """Grade the class; after so many lines of its, send it a signal."""
    command = [
        sys.executable, "-m", "grader", "--bank", str(BANK), "class", "grade", "in", "--question",
        "deviations", "--out", "out", "--isolation", "process", "--json",
    ]  # fmt: skip
    here = {"PYTHONPATH": str(ROOT), "DRILL_HOME": str(folder / "home")}
    found = subprocess.run(
        [sys.executable, "-c", HOST, str(number), str(after), *command],
        env={**os.environ, **here}, cwd=folder, capture_output=True, text=True, timeout=120,
        check=True,
    )  # fmt: skip
    assert found.stdout.splitlines()[-1] == "alone"
    return found


@pytest.fixture
def twelve(tmp_path: Path) -> Path:
    """A folder with twelve submissions in it, no two of them the same."""
    (tmp_path / "in").mkdir()
    for number in range(12):
        (tmp_path / "in" / f"s{number}.py").write_text(f"# {number}\n{REFERENCE.read_text()}")
    return tmp_path


def settled(folder: Path) -> list[str]:
    """Whoever has a verdict; nobody has anything else."""
    if not (folder / "out" / TABLE).exists():
        return []
    with Results(folder / "out") as results:
        found = list(results.everything())
    assert {one.verdict for one in found} <= {"pass", "not graded"}
    return [one.handed.student for one in found if one.report is not None]


def test_killed_at_any_moment_it_goes_on(twelve: Path) -> None:
    chance = random.Random(5)
    known = 0
    while known < 8:
        status, _ = run(twelve, SIGKILL, known + chance.randrange(4)).stdout.split()
        assert int(status) == -SIGKILL
        keys = settled(twelve)
        assert len(keys) == len(set(keys)) >= known
        known = len(keys)
    assert run(twelve, NOTHING).stdout.split() == ["0", "alone"]
    keys = settled(twelve)
    assert len(keys) == len(set(keys)) == 12


def test_interrupted_it_says_what_is_kept(twelve: Path) -> None:
    found = run(twelve, SIGINT, 2)
    assert found.stdout.split() == ["130", "alone"]
    assert "of 12 are kept; begun again, it goes on from there" in found.stderr
    assert "Traceback" not in found.stderr
    assert 2 <= len(settled(twelve)) < 12
