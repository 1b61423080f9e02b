"""Several questions at once: a process for each, and the reports in the order that was asked for.

A judge and its workers take turns, so that one audit keeps hardly more than one core busy.  The
processes are forked before anything else is started, and only on Linux: elsewhere a fork of a
program that has loaded numpy is not safe, and questions are audited one after another.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.sharedctypes import Synchronized

from grader.audit import mutation, proof
from grader.model.audit import AuditReport
from grader.model.mutation import MutationReport
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

    `jobs` questions are looked at at once, and `progress` gets a line on each step.
    """
    jobs = min(jobs, len(questions)) if sys.platform == "linux" else 1
    if jobs <= 1:
        yield (report for question in questions for report in _one(question, plan, progress))
        return
    fork = multiprocessing.get_context("fork")
    begun = fork.Value("i", 0)
    with ExitStack() as stack:
        pool: list[connection.Connection] = []
        for _ in range(jobs):
            here, there = fork.Pipe()
            pool.append(here)
            process = fork.Process(target=_serve, args=(there, pool, begun, questions, plan))
            process.daemon = True
            process.start()
            there.close()
            stack.callback(process.join)
            stack.callback(process.terminate)
            stack.callback(process.join, END_SECONDS)
            stack.callback(here.close)
        yield _in_order(questions, plan, pool, progress)


def _one(question: Question, plan: Plan, progress: Progress) -> Reports:
    report = proof.audit(question, seeds=plan.seeds, progress=progress)
    yield report
    if plan.mutants and report.ok:
        yield mutation.mutate(
            question,
            seeds=plan.seeds,
            at_most=plan.at_most,
            progress=progress,
        )


def _serve(
    listener: connection.Connection,
    inherited: Sequence[connection.Connection],
    begun: Synchronized[int],
    questions: Sequence[Question],
    plan: Plan,
) -> None:
    """Audit the questions that no other process has begun; those that need torch take longest."""
    for other in inherited:  # held open here, they would hide that the listener is gone
        other.close()
    order = sorted(range(len(questions)), key=lambda i: not questions[i].spec.needs_torch)
    with suppress(OSError, KeyboardInterrupt):
        while True:
            with begun.get_lock():
                number = begun.value
                begun.value += 1
            if number >= len(order):
                return
            index = order[number]
            listener.send((index, list(_one(questions[index], plan, listener.send))))


def _in_order(
    questions: Sequence[Question],
    plan: Plan,
    pool: list[connection.Connection],
    progress: Progress,
) -> Reports:
    done: dict[int, list[AuditReport | MutationReport]] = {}
    for index, question in enumerate(questions):
        while index not in done and pool:
            for ready in connection.wait(pool):
                assert isinstance(ready, connection.Connection)
                try:
                    found = ready.recv()
                except (EOFError, OSError):
                    pool.remove(ready)
                    continue
                if isinstance(found, str):
                    progress(found)
                else:
                    done[found[0]] = found[1]
        # What ended a process of its own is met again here, and reported as usual.
        yield from done.pop(index, None) or _one(question, plan, progress)
