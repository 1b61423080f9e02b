"""Grades that grade nothing, so that what happens around one can be arranged."""

from __future__ import annotations

import shlex
import threading
from collections import Counter

from grader.classroom.run import Job
from grader.model.classroom import AssignedQuestion, Graded
from grader.model.report import Report, Verdict

MEAN = AssignedQuestion("mean", "A mean", "d" * 64, "/bank", (1,), 100)
NOW = "2026-11-22T12:00:00+00:00"


def job(number: int, does: str = "pass") -> Job:
    """A job with a key of its own; `does` is what becomes of it."""
    return Job(f"{number:032x}", MEAN, does.encode(), 7, "strong")


def report(verdict: Verdict = Verdict.PASS) -> Report:
    """A report with nothing in it."""
    return Report("mean", "A mean", verdict, 7, "strong", 0.1)


class Pretending:
    """Does what a job's program says: pass, fail, a fault, `die` as its process would, or raise."""

    def __init__(self, size: int = 2) -> None:
        self.size = size
        self.begun = Counter[str]()  # by key
        self.most = 0  # jobs that went on at once
        self._going = 0
        self._lock = threading.Lock()

    def grade(self, job: Job) -> Graded:
        """Do it."""
        with self._lock:
            self.begun[job.key] += 1
            self._going += 1
            self.most = max(self.most, self._going)
        try:
            return self._grade(job, *shlex.split(job.program.decode()))
        finally:
            with self._lock:
                self._going -= 1

    def _grade(self, job: Job, does: str, *_: str) -> Graded:
        first = self.begun[job.key] == 1
        if does == "die" or (does == "die-once" and first):
            raise EOFError
        if does == "raise":
            raise ValueError("something of ours")
        if does == "fault" or (does == "fault-once" and first):
            return Graded(job.key, fault="the disk is full")
        return Graded(job.key, report(Verdict(does) if does in {"pass", "fail"} else Verdict.PASS))

    def close(self) -> None:
        """End it."""
        self.size = 0
