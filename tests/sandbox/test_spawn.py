"""A forked worker works and ends like one that was started afresh."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from grader.model.errors import GraderError
from grader.sandbox.client import STRONG, WorkerClient, WorkerDied
from grader.sandbox.scratch_folder import ScratchFolder
from grader.sandbox.spawn import Zygote
from tests.sandbox.running import load, run


@pytest.fixture
def zygote() -> Iterator[Zygote]:
    with Zygote(torch=False) as made:
        yield made
    assert not made._scratch.root.exists()


MARKS = """
import builtins, random
import numpy as np
def f(x):
    marked, builtins.mark = hasattr(builtins, "mark"), 1
    return [marked, random.random(), np.random.rand()]
"""


def test_each_fork_has_its_own_walls_memory_and_random_numbers(zygote: Zygote) -> None:
    with (
        WorkerClient(torch=False, zygote=zygote) as one,
        WorkerClient(torch=False, zygote=zygote) as other,
    ):
        assert (one.isolation.level, other.isolation.level) == (STRONG, STRONG)
        assert one.pid != other.pid
        assert one.scratch != other.scratch
        first, second = (run(load(worker, MARKS)).values["y"] for worker in (one, other))
        assert first[0] is second[0] is False
        assert not set(first[1:]) & set(second[1:])
        pids = [one.pid, other.pid]
    assert not any(map(psutil.pid_exists, pids))
    assert not Path(one.scratch).exists()


def test_the_workers_of_a_killed_zygote_end(zygote: Zygote) -> None:
    with WorkerClient(torch=False, zygote=zygote) as worker:
        program = load(worker, "def f(x): return 1")
        pid = worker.pid
        handle = os.pidfd_open(pid)
        os.kill(zygote.process.pid, signal.SIGKILL)
        assert select.select([handle], [], [], 30)[0]
        os.close(handle)
        with pytest.raises(WorkerDied):
            run(program)
    zygote.close()
    assert not psutil.pid_exists(pid)


def test_a_zygote_that_is_closed_before_it_is_ready_leaves_nothing() -> None:
    with Zygote(torch=False) as zygote:
        worker = WorkerClient(torch=False, zygote=zygote)
        worker.close()
        first = zygote.process.pid
    assert not psutil.pid_exists(first)
    assert not Path(worker.scratch).parent.exists()


def test_a_fork_after_the_zygote_is_closed_is_refused() -> None:
    zygote = Zygote(torch=False)
    zygote.close()
    zygote.close()
    with WorkerClient(torch=False, zygote=zygote) as worker, pytest.raises(GraderError):
        _ = worker.isolation


def test_a_worker_of_root_gets_another_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = ScratchFolder()
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert made.chown_to_worker_user() is None
    monkeypatch.setattr(os, "getuid", lambda: 0)
    given: list[int] = []

    def chown(_: str, user: int, group: int) -> None:
        given.append(user)
        if len(given) == 1:
            raise OSError("a container knows fewer ids")

    monkeypatch.setattr(os, "chown", chown)
    monkeypatch.setattr(os, "access", lambda *_, **__: True)
    assert made.chown_to_worker_user() == given[1] == 65534
    made.remove()
