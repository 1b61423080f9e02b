"""A test that hangs fails with a stack, and the tests after it run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HANGS = """
import threading


def test_hangs():
    threading.Event().wait()


def test_fine():
    pass
"""


def test_every_test_has_a_limit(pytestconfig: pytest.Config) -> None:
    assert float(pytestconfig.getini("timeout")) >= 300


@pytest.mark.parametrize("processes", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_test_that_hangs_fails_with_a_stack_and_the_next_one_runs(
    tmp_path: Path, processes: int
) -> None:
    (tmp_path / "test_hangs.py").write_text(HANGS)
    options = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), "-n", str(processes)]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-o", "timeout=1"]
    ended = subprocess.run(
        [*command, *options, "test_hangs.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED, ended
    assert "1 failed, 1 passed" in ended.stdout
    assert "test_hangs.py:6" in ended.stdout  # where it waits
    assert "Timeout (>1.0s)" in ended.stdout
