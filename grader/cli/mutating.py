"""The mutants of `drill bank audit --mutants`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.cli import output
from grader.cli.waiting import waiting

if TYPE_CHECKING:
    from grader.model.mutation import MutationReport
    from grader.model.question import Question


def mutate(question: Question, *, seeds: int, at_most: int | None, as_json: bool) -> MutationReport:
    """Try the mutants of a question's reference and show what they tell.

    Args:
        question: the question; its audit has no problem.
        seeds: how many to try.
        at_most: how many mutants; all when None.
        as_json: whether the caller prints the report.
    """
    from grader.audit.mutation import mutate as examine

    with waiting() as tell:
        report = examine(question, seeds=range(seeds), at_most=at_most, progress=tell)
    if not as_json:
        from grader.reports.mutation import render_mutation

        output.write()
        output.show(render_mutation(report, width=output.width()))
    return report
