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
    ours, theirs = fork.Pipe()
    process = fork.Process(
        target=_serve, args=(theirs, [*others, ours], questions, plan), daemon=True
    )
    process.start()
    theirs.close()
    stack.callback(process.join)
    stack.callback(process.terminate)
    stack.callback(process.join, END_SECONDS)
    stack.callback(ours.close)
    return ours


def _serve(
    theirs: connection.Connection,
    inherited: Sequence[connection.Connection],
    questions: Sequence[Question],
    plan: Plan,
) -> None:
    for other in inherited:  # held open here, they would hide that the judge is gone
        other.close()
    try:
        while True:
            theirs.send(list(_one(questions[theirs.recv()], plan, theirs.send)))
    except (EOFError, OSError, KeyboardInterrupt):
        return


def _in_order(
    questions: Sequence[Question],
    plan: Plan,
    pool: Sequence[connection.Connection],
    progress: Progress,
) -> Reports:
    """Keep the processes busy, with questions that need torch first: they take longest."""
    left = sorted(range(len(questions)), key=lambda i: not questions[i].spec.needs_torch)
    busy: dict[connection.Connection, int] = {}
    done: dict[int, list[AuditReport | MutationReport]] = {}
    for process in pool:
        busy[process] = left.pop(0)
        process.send(busy[process])
    for index, question in enumerate(questions):
        while index not in done and index in {*left, *busy.values()} and busy:
            ready = connection.wait([p for p in pool if p in busy])
            for process in [p for p in pool if p in ready]:
                try:
                    found = process.recv()
                except (EOFError, OSError):
                    del busy[process]
                    continue
                if isinstance(found, str):
                    progress(found)
                    continue
                done[busy.pop(process)] = found
                if left:
                    busy[process] = left.pop(0)
                    process.send(busy[process])
        # What ended a process of its own is met again here, and reported as usual.
        yield from done.pop(index) if index in done else _one(question, plan, progress)
