"""Grade an attack in workers that start afresh or are forked, and see what is said and left."""

from __future__ import annotations

import contextlib

from grader.model.question import Question
from grader.model.report import Report
from grader.sandbox.client import WorkerClient
from grader.sandbox.config import CPU_SECONDS
from grader.sandbox.spawn import Zygote
from grader.session import Workers, grade


class Around(Workers):
    """The workers of a session whose first submission runs in a given one."""

    def __init__(self, candidate: WorkerClient, zygote: Zygote) -> None:
        """Take the others from a zygote that is used again."""
        self.torch = candidate.torch
        self._zygote = zygote
        self._early = {CPU_SECONDS: candidate}
        self._stack = contextlib.ExitStack()


def graded(
    question: Question,
    text: bytes,
    *,
    zygote: Zygote,
    cold: bool,
    cpu_seconds: int | None = None,
    seed: int = 5,
) -> tuple[Report, str]:
    """Grade a submission and end its workers; return the report and what the submission printed.

    Args:
        question: what is asked.
        text: the submission.
        zygote: forks the reference's worker, and the submission's unless that starts afresh.
        cold: whether the submission's worker starts afresh.
        cpu_seconds: the submission's worker may use.
        seed: of the inputs.
    """
    torch = question.spec.needs_torch
    cpu = CPU_SECONDS if cpu_seconds is None else cpu_seconds
    with WorkerClient(torch=torch, cpu_seconds=cpu, zygote=None if cold else zygote) as candidate:
        report = grade(question, text, seed=seed, workers=Around(candidate, zygote))
    return report, candidate.printed.decode("utf-8", "replace")


def said(report: Report) -> str:
    """All that a report says, in lines."""
    lines = [report.message]
    for check in report.checks:
        lines.append(f"{check.id} {check.verdict}: {check.message}")
        if check.raised is not None:
            lines.append(f"{check.raised.type}: {check.raised.message}")
    if report.raised is not None:
        lines.append(f"{report.raised.type}: {report.raised.message}")
    return "\n".join(lines)
