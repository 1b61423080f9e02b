"""Grade an attack in workers that start afresh or are forked, and see what is said and left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from grader.model.question import Question
from grader.model.report import Report
from grader.sandbox.client import CPU_SECONDS, WorkerClient
from grader.sandbox.spawn import Zygote
from grader.session import grade
from grader.session.pair import Pair


@dataclass
class Workers:
    """What `grade` takes for a pair, from a zygote that is used again or from nothing."""

    torch: bool
    theirs: WorkerClient
    ours: WorkerClient


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
    with (
        WorkerClient(torch=torch, cpu_seconds=cpu, zygote=None if cold else zygote) as theirs,
        WorkerClient(torch=torch, zygote=zygote) as ours,
    ):
        pair = cast(Pair, Workers(torch, theirs, ours))
        report = grade(question, text, seed=seed, pair=pair)
    return report, theirs.printed.decode("utf-8", "replace")


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
