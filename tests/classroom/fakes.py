"""Grades that grade nothing, so that what happens around one can be arranged."""

from __future__ import annotations

import multiprocessing
import os
import shlex
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

from grader.classroom.jobs import Job
from grader.model.classroom import Graded
from grader.model.report import Report
from grader.model.verdict import Verdict

NOW = "2026-11-22T12:00:00+00:00"


def job(number: int, does: str = "pass", *, log: Path | str = os.devnull) -> Job:
    """A job with a key of its own; `does` is what becomes of it, `log` gets a line each time."""
    source = f"{does} {shlex.quote(str(log))}".encode()
    return Job(f"{number:032x}", "mean", "d" * 64, (1,), 7, "strong", source, {}, "/bank")


def report(verdict: Verdict = Verdict.PASS) -> Report:
    """A report with nothing in it."""
    return Report("mean", "A mean", verdict, 7, "strong", 0.1)


def pretend(job: Job) -> Graded:
    """Do what a job says: pass, fail, a fault, `die` and take the process along, or raise."""
    does, log = shlex.split(job.source.decode())
    with Path(log).open("a", encoding="utf-8") as file:
        file.write(f"{job.key}\n")
    tries = Path(log).read_text(encoding="utf-8").count(job.key) if log != os.devnull else 1
    if does == "die" or (does == "die-once" and tries == 1):
        os._exit(1)
    if does == "raise":
        raise ValueError("something of ours")
    if does == "fault" or (does == "fault-once" and tries == 1):
        return Graded(job.key, fault="the disk is full")
    return Graded(job.key, report(Verdict(does) if does in {"pass", "fail"} else Verdict.PASS))


class Pretending:
    """Two processes that do what jobs say."""

    far = False
    size = 2

    def __init__(self) -> None:
        """Start none yet."""
        self.most = 0  # jobs that had begun and not ended
        self._executor = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
        self._begun: list[Future[Graded]] = []

    def submit(self, job: Job) -> Future[Graded]:
        """Begin a job."""
        future = self._executor.submit(pretend, job)
        self._begun = [one for one in self._begun if not one.done()] + [future]
        self.most = max(self.most, len(self._begun))
        return future

    def close(self) -> None:
        """End it."""
        self._executor.shutdown(wait=False, cancel_futures=True)
