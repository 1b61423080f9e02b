"""A Dask cluster on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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
