"""The judge stands up to its own surroundings: many open files, threads, and odd replies."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from grader.sandbox.client import Garbled, WorkerClient
from grader.sandbox.spawn import Zygote
from tests.attacks.attack import PASS, question
from tests.attacks.running import graded
from tests.sandbox.running import X, load, run, steps

MANY = 1100  # more descriptors than select(2) can name


@pytest.fixture
def many_open_files() -> Iterator[None]:
    """A judge that has many files open already."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2 * MANY:
        pytest.skip(f"this machine lets a process open {hard} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * MANY), hard))
    opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(MANY)]
    yield
    for descriptor in opened:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_open_files")
def test_a_judge_with_many_files_open_grades(numpy_zygote: Zygote) -> None:
    asked = question()
    for cold in (True, False):
        report, _ = graded(asked, asked.reference, zygote=numpy_zygote, cold=cold)
        assert report.verdict is PASS


def test_grades_in_many_threads_do_not_end_each_others_workers() -> None:
    asked = question()
    ready = threading.Barrier(4)

    def some(_: int) -> list[str]:
        ready.wait()
        with Zygote(torch=False) as zygote:
            return [
                graded(asked, asked.reference, zygote=zygote, cold=cold)[0].verdict
                for cold in (True, False)
            ]

    with ThreadPoolExecutor(4) as pool:
        verdicts = {v for found in pool.map(some, range(4)) for v in found}
    assert verdicts == {PASS}


@pytest.mark.parametrize(
    "runs",
    [
        [np.zeros(3)],
        [np.float64(1)],
        ["values"],
        [["values"]],
        [{"values": []}],
        [{"values": {}, "changed": [[np.zeros(2), 1]]}],
        [{"values": {}, "stale": np.float64(1)}],
        [{"values": {}, "changed": [[float("nan"), "x"]]}],
        [{"values": {}, "shared": [[1, 2, 3]]}],
    ],
    ids=str,
)
def test_runs_that_are_none_are_no_reply(
    runs: Any, numpy_zygote: Zygote, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WorkerClient(torch=False, zygote=numpy_zygote) as worker:
        program = load(worker, "def f(x):\n    return x")
        run(program)
        monkeypatch.setattr(
            worker, "ask", lambda *_, **__: {"ok": True, "runs": runs, "common": []}
        )
        with pytest.raises(Garbled, match="broke the protocol"):
            program.interleave(steps("y = f(x)"), [X], ["y"])
