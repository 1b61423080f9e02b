"""How time and memory grow with a class: everything around the grades, which are pretended.

    python benchmarks/class_scale.py [N ...] [--dask]

For each N in a process of its own: verdicts written one after another, the folder of results opened
again, every submission found there, and its summary read.  What a grade itself costs,
benchmarks/session.py says.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from grader.classroom.jobs import Job, job_for
from grader.classroom.ledger import Index, Ledger
from grader.classroom.results import write_handed_in, write_terms
from grader.classroom.run import grade_all
from grader.classroom.work import Work
from grader.model.classroom import Graded, HandedIn, Posed, Terms
from grader.model.report import Report

ROOT = Path(__file__).parents[1]
QUESTION = "maxpool-routing"
POSED = Posed(QUESTION, "", "d" * 64, str(ROOT), (1,), 100)
TERMS = Terms(7, "strong", "0", (POSED,))


class Pretended:
    """Has every grade done at once."""

    size = 2

    def __init__(self, report: Report) -> None:
        """Know what comes of each."""
        self._report = report

    def submit(self, job: Job) -> Future[Graded]:
        """End a grade as it begins."""
        future: Future[Graded] = Future()
        future.set_result(Graded(job.key, self._report))
        return future

    def close(self) -> None:
        """There is nothing to end."""


def report() -> Report:
    """What comes of grading a starter: 7 KB of JSON, as most wrong programs have."""
    from grader import bank
    from grader.session import grade

    question = bank.load([ROOT], QUESTION)
    return grade(question, question.starter, seed=1)


def handed_in(count: int) -> Iterator[HandedIn]:
    """So many files."""
    for number in range(count):
        source = f"{number}".encode()
        sha256 = job_for(TERMS, POSED, source).key * 2
        name = f"student{number:07}"
        yield HandedIn(name, QUESTION, f"{name}/{QUESTION}.py", sha256, "2026-11-22T12:00:00+00:00")


def peak() -> float:
    """Most memory that this process has had so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def clocked(began: tuple[float, float]) -> tuple[float, float]:
    """Seconds by the clock and of CPU since then."""
    return time.perf_counter() - began[0], time.process_time() - began[1]


def now() -> tuple[float, float]:
    """A moment, by the clock and in CPU time."""
    return time.perf_counter(), time.process_time()


def write(folder: Path, count: int) -> dict[str, float]:
    """Have so many grades pretended and kept."""
    found = report()
    write_terms(folder, TERMS)
    before, began = peak(), now()
    write_handed_in(folder, handed_in(count))
    listed = clocked(began)
    with Work(folder, TERMS) as work, Ledger(folder / "verdicts.jsonl") as ledger:
        began = now()
        jobs = (Job(one.key, QUESTION, "", (1,), 7, "strong", b"", {}, "") for one in work)
        for _ in grade_all(jobs, lambda: Pretended(found), ledger, set(), lambda: "now"):
            pass
        seconds, cpu = clocked(began)
    size = (folder / "verdicts.jsonl").stat().st_size
    return {
        "listing, s": listed[0], "keeping, s": seconds, "keeping, CPU s": cpu,
        "MB before": before, "MB at most": peak(), "bytes per verdict": size / count,
    }  # fmt: skip


def resume(folder: Path, count: int) -> dict[str, float]:
    """Open the results again, as a class that is gone on with."""
    before, began = peak(), now()
    index = Index(folder)
    opened, at_open = clocked(began), peak()
    began = now()
    with Work(folder, TERMS) as work:
        known = sum(index.is_settled(piece.short) for piece in work)
    assert known == count
    found = clocked(began)
    began = now()
    with Work(folder, TERMS) as work:
        for piece in work:
            assert index.get(piece.key) is not None
    read = clocked(began)
    return {
        "opening, CPU s": opened[1], "finding all, CPU s": found[1], "reading all, CPU s": read[1],
        "MB before": before, "MB opened": at_open, "MB at most": peak(),
    }  # fmt: skip


def dask(count: int) -> None:
    """What a cluster with two workers adds to a job: one that does nothing, of 50 KB."""
    import distributed

    untyped: Any = distributed
    with (
        untyped.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        untyped.Client(cluster) as client,
    ):
        executor = client.get_executor(pure=False)
        executor.submit(len, b"").result()
        began = now()
        running: deque[Future[int]] = deque()
        for number in range(count):
            running.append(executor.submit(len, number.to_bytes(50_000)))
            if len(running) == 4:
                running.popleft().result()
        for future in running:
            future.result()
        seconds, cpu = clocked(began)
    each = 1000 / count
    print(f"Dask: {seconds * each:.2f} ms for each job; CPU of client, scheduler {cpu * each:.2f}")


def main() -> None:
    """Print a line of JSON for each N and step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("counts", nargs="*", type=int, default=[1_000, 10_000, 100_000])
    parser.add_argument("--dask", action="store_true", help="what Dask adds to a job")
    parser.add_argument("--without-disk", action="store_true", help="wait for no disk")
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.without_disk:
        vars(os)["fsync"] = lambda _: None
    if chosen.step:
        name, folder = chosen.step
        step = {"write": write, "resume": resume}[name]
        found = step(Path(folder), chosen.counts[0])
        print(json.dumps({"step": name, "N": chosen.counts[0]} | found), flush=True)
        return
    without = ["--without-disk"] if chosen.without_disk else []
    for count in chosen.counts:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("write", "resume"):
                command = [sys.executable, __file__, str(count), "--step", name, folder]
                subprocess.run(command + without, check=True)
    if chosen.dask:
        dask(2_000)


if __name__ == "__main__":
    main()
