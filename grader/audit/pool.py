"""Several questions at once: a process for each, and the reports in the order that was asked for.

A judge and its workers take turns, so that one audit keeps hardly more than one core busy.  The
processes are forked before anything else is started, and only on Linux: elsewhere a fork of a
program that has loaded numpy is not safe, and questions are audited one after another.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

from grader.audit import audit, mutation
from grader.model.audit import AuditReport
from grader.model.mutation import MutationReport
from grader.model.question import Question

Progress = Callable[[str], None]
Reports = tuple[AuditReport, MutationReport | None]  # with mutants, where these were tried


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done with each question, and with its proof."""

    seeds: Sequence[int] = range(3)
    mutants: bool = False  # of every question whose audit has no problem
    at_most: int | None = None  # mutants of a question
    strict: bool = False  # whether a remark fails it too
    everything: bool = False  # prove all, whatever proofs say
    mine: bool = False  # believe the proofs of any bank that is looked at
    write: bool = False  # write the proofs of what is proved
    jobs: int = 1  # questions at once


def audited(questions: Sequence[Question], plan: Plan, progress: Progress) -> Iterator[Reports]:
    """Give the reports of each question; `progress` gets a line on each step."""
    jobs = min(plan.jobs, len(questions)) if sys.platform == "linux" else 1
    if jobs <= 1:
        yield from (_one(question, plan, progress) for question in questions)
        return
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), _begin, (questions, plan))
    try:
        # Those that need torch take longest.
        order = sorted(range(len(questions)), key=lambda i: not questions[i].spec.needs_torch)
        tried = {number: pool.submit(_of_number, number) for number in order}
        for number, question in enumerate(questions):
            progress(f"{sum(f.done() for f in tried.values())} of {len(questions)} questions done")
            try:
                found = tried[number].result()
            except BrokenProcessPool:  # what ended a process is met again here
                found = _one(question, plan, progress)
            yield found
    finally:
        pool.shutdown(cancel_futures=True)


def _one(question: Question, plan: Plan, progress: Progress) -> Reports:
    report = audit.audit(question, seeds=plan.seeds, progress=progress)
    if not plan.mutants or not report.ok:
        return report, None
    return report, mutation.mutate(
        question, seeds=plan.seeds, at_most=plan.at_most, progress=progress
    )


_given: tuple[Sequence[Question], Plan]  # in a process of the pool, inherited


def _begin(questions: Sequence[Question], plan: Plan) -> None:
    global _given
    _given = questions, plan


def _of_number(number: int) -> Reports:
    questions, plan = _given
    return _one(questions[number], plan, lambda _: None)
