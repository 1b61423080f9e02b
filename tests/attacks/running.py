"""Grade attacks in workers that start afresh or are forked, and collect reports and traces."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from grader.explain.session import GradingSession
from grader.model.limits import CPU_SECONDS
from grader.model.question import Question
from grader.model.report import Report
from grader.sandbox.client import WorkerClient
from grader.sandbox.spawn import Zygote
from grader.sandbox.worker_pool import WorkerPool

Graded = Callable[..., tuple[Report, str]]


class PoolWithGivenWorker(WorkerPool):
    """The workers of a session; its submissions run in workers of the test."""

    def __init__(self, zygote: Zygote, *, torch: bool = False) -> None:
        """Fork the other workers from a shared zygote."""
        self.torch = torch
        self._zygote = zygote
        self._early = {}
        self._stack = contextlib.ExitStack()

    def give(self, candidate: WorkerClient) -> None:
        """Have the next submission run in a worker."""
        self._early[CPU_SECONDS] = candidate


@contextlib.contextmanager
def one_session(zygote: Zygote, *, torch: bool = False) -> Iterator[Graded]:
    """Yield a function that grades a submission and returns the report and the output.

    All submissions of a question are graded in one session.  A submission that races with the judge
    needs another session, in which the reference takes time.  The zygote forks the workers of the
    bank, and the submission's worker unless it starts cold.  `meddle` may change a submission's
    worker before the first request.
    """
    with contextlib.ExitStack() as stack:
        opened: dict[str, tuple[GradingSession, PoolWithGivenWorker]] = {}

        def again(
            question: Question,
            text: bytes,
            *,
            cold: bool = False,
            cpu_seconds: int = CPU_SECONDS,
            meddle: Callable[[WorkerClient], None] = lambda _: None,
        ) -> tuple[Report, str]:
            if question.id not in opened:
                workers = PoolWithGivenWorker(zygote, torch=torch)
                session = stack.enter_context(GradingSession(question, workers=workers))
                opened[question.id] = session, workers
            session, workers = opened[question.id]
            source = None if cold else zygote
            with WorkerClient(torch=torch, cpu_seconds=cpu_seconds, zygote=source) as candidate:
                meddle(candidate)
                workers.give(candidate)
                report = session.grade(text, seed=5)
            return report, candidate.printed.decode("utf-8", "replace")

        yield again


def said(report: Report) -> str:
    """Return all texts of a report, one a line."""
    lines = [report.message]
    for check in report.checks:
        lines.append(f"{check.id} {check.verdict}: {check.message}")
        if check.raised is not None:
            lines.append(f"{check.raised.type}: {check.raised.message}")
    if report.raised is not None:
        lines.append(f"{report.raised.type}: {report.raised.message}")
    return "\n".join(lines)
