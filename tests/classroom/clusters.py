"""A Dask cluster on this machine, and executors that misbehave, for tests of where grades run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_CLUSTER = """
import sys
import distributed
if __name__ == "__main__":
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        print(cluster.scheduler_address, *(w.pid for w in cluster.workers.values()), flush=True)
        sys.stdin.read()
"""


@dataclass(frozen=True)
class Cluster:
    """A scheduler with two workers of one thread each."""

    address: str
    pids: tuple[int, ...]  # of the workers; one that is killed is replaced
    scheduler: int  # the pid of what holds it all


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Start one, in processes of its own, which share nothing with this one."""
    script = folder / "cluster.py"
    script.write_text(_CLUSTER, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)}
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=environment, cwd=folder,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        address, *pids = process.stdout.readline().split()
        try:
            yield Cluster(address, tuple(map(int, pids)), process.pid)
        finally:
            process.communicate("")


def threads() -> Executor:
    """Two threads."""
    return ThreadPoolExecutor(2)


def processes() -> Executor:
    """One process, and the number of grades at once that goes with it."""
    executor: Any = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    executor.size = 1
    return executor  # type: ignore[no-any-return]


def raising() -> Executor:
    """Cannot."""
    raise OSError("no machine is free")


def nothing() -> None:
    """Returns nothing."""


number = 7


class Odd(Executor):
    """Does what a test says with each job, and never what it is for."""

    def __init__(self, does: str) -> None:
        """Know what to do."""
        self.does = does
        self.begun = 0

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> Future[Any]:
        """Cancel it, return something else, or refuse."""
        self.begun += 1
        if self.does == "refuse":
            raise RuntimeError("the queue is closed")
        future: Future[Any] = Future()
        if self.does == "cancel":
            future.cancel()
        elif self.does == "return":
            future.set_result(None)
        elif self.does == "cancel-once" and self.begun == 1:
            future.cancel()
        else:
            future.set_result(fn(*args))
        return future
