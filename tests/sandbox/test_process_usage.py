"""The figures about a process equal the system's, or are None if they are not known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.model.limits import MAX_MEMORY_BYTES
from grader.sandbox import client, process_usage
from grader.sandbox.client import LimitExceeded, WorkerClient
from grader.sandbox.scratch_folder import file_sizes, remove
from tests.sandbox.running import load, run, started

TICK = 10_000_000  # nanoseconds: what psutil's clock counts in


@pytest.mark.skipif(sys.platform != "linux", reason="compares with /proc")
def test_psutil_and_proc_agree_on_a_waiting_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    with started() as worker:
        run(load(worker, "def f(x):\n    open('file', 'wb').write(b'x' * 50_000)\n    return 1"))
        pid = worker.pid
        resident, written = process_usage.resident_bytes(pid), process_usage.written_bytes(pid)
        exact = process_usage.cpu_nanoseconds(pid)
        monkeypatch.setattr(process_usage, "HAS_PROC", False)
        assert process_usage.resident_bytes(pid) == resident
        assert process_usage.written_bytes(pid) == written
        spent = process_usage.cpu_nanoseconds(pid)
        assert spent is not None
        assert exact is not None
        assert abs(spent - exact) <= 2 * TICK  # user's and system's, each cut off


def test_files_are_counted_at_any_depth(tmp_path: Path) -> None:
    deepest, depth = tmp_path, 990  # of 1,000 calls that Python allows by default
    for _ in range(depth):
        deepest /= "d"
        deepest.mkdir()
    deepest.joinpath("file").write_bytes(b"x" * (1 << 20))
    errors: list[OSError] = []
    sizes = list(file_sizes(str(tmp_path), errors.append))
    assert len(sizes) == depth + 1
    assert sum(sizes) > 1 << 20
    assert not errors
    remove(tmp_path)


def test_watching_without_proc_starts_no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_usage, "HAS_PROC", False)
    with WorkerClient(torch=False) as worker:
        program = load(worker, "def f(x): return 1")

        def refuse(*_: Any, **__: Any) -> None:
            raise AssertionError("a program was started")

        monkeypatch.setattr(subprocess, "Popen", refuse)
        assert run(program).values["y"] == 1
        monkeypatch.setattr(client, "WATCH_SECONDS", 0.0)
        monkeypatch.setitem(MAX_MEMORY_BYTES, False, 1 << 20)
        with pytest.raises(LimitExceeded, match="took more than 1 MB of memory"):
            run(program)
