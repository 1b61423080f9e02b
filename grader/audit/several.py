"""Several questions at once: a process for each, and the reports in the order that was asked for.

A judge and its workers take turns, so that one audit keeps hardly more than one core busy.  The
processes are forked before anything else is started, and only on Linux: elsewhere a fork of a
program that has loaded numpy is not safe, and questions are audited one after another.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import connection
from typing import TYPE_CHECKING

from grader.audit import mutation, proof
from grader.model.audit import AuditReport
from grader.model.mutation import MutationReport

if TYPE_CHECKING:
    from grader.model.question import Question

Progress = Callable[[str], None]
Reports = Iterator[AuditReport | MutationReport]
END_SECONDS = 5.0  # in which a process that is no longer listened to ends by itself


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done with each question."""

    seeds: Sequence[int]
    mutants: bool = False  # of every question whose audit has no problem
    at_most: int | None = None  # mutants of a question


@contextmanager
def audited(
    questions: Sequence[Question], plan: Plan, *, jobs: int, progress: Progress
) -> Iterator[Reports]:
    """Give the report of each question, followed by that of its mutants where they were tried.

    Args:
        questions: in the order of the reports.
        plan: what to do with each.
        jobs: questions at once.
        progress: gets a line on what is being done, for people who wait.
    """
    jobs = min(jobs, len(questions)) if sys.platform == "linux" else 1
    if jobs <= 1:
        yield (report for question in questions for report in _one(question, plan, progress))
        return
    with ExitStack() as stack:
        pool: list[connection.Connection] = []
        for _ in range(jobs):
            pool.append(_start(questions, plan, pool, stack))
        yield _in_order(questions, plan, pool, progress)


def _one(question: Question, plan: Plan, progress: Progress) -> Reports:
    report = proof.audit(question, seeds=plan.seeds, progress=progress)
    yield report
    if plan.mutants and report.ok:
        yield mutation.mutate(question, seeds=plan.seeds, at_most=plan.at_most, progress=progress)


def _start(
    questions: Sequence[Question],
    plan: Plan,
    others: Sequence[connection.Connection],
    stack: ExitStack,
) -> connection.Connection:
    """Start a process that audits the questions whose numbers it is sent."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe()
    process = fork.Process(
        target=_serve, args=(there, [*others, here], questions, plan), daemon=True
    )
    process.start()
    there.close()
    stack.callback(process.join)
    stack.callback(process.terminate)
    stack.callback(process.join, END_SECONDS)
    stack.callback(here.close)
    return here


def _serve(
    listener: connection.Connection,
    inherited: Sequence[connection.Connection],
    questions: Sequence[Question],
    plan: Plan,
) -> None:
    for other in inherited:  # held open here, they would hide that the listener is gone
        other.close()
    try:
        while True:
            listener.send(list(_one(questions[listener.recv()], plan, listener.send)))
    except (EOFError, OSError, KeyboardInterrupt):
        return


def _in_order(
    questions: Sequence[Question],
    plan: Plan,
    pool: Sequence[connection.Connection],
    progress: Progress,
) -> Reports:
    """Keep the processes busy, with questions that need torch first: they take longest."""
    left = iter(sorted(range(len(questions)), key=lambda i: not questions[i].spec.needs_torch))
    busy: dict[connection.Connection, int] = {}
    done: dict[int, list[AuditReport | MutationReport]] = {}

    def feed(process: connection.Connection) -> None:
        if (index := next(left, None)) is not None:
            busy[process] = index
            process.send(index)

    for process in pool:
        feed(process)
    for index, question in enumerate(questions):
        while index not in done and busy:
            for ready in connection.wait(list(busy)):
                assert isinstance(ready, connection.Connection)
                try:
                    found = ready.recv()
                except (EOFError, OSError):
                    found = []
                if isinstance(found, str):
                    progress(found)
                    continue
                done[busy.pop(ready)] = found
                if found:
                    feed(ready)
        # What ended a process of its own is met again here, and reported as usual.
        yield from done.pop(index, None) or _one(question, plan, progress)
