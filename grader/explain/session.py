"""Grading with explanations: the session that commands, classes and audits use."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from grader.explain.explain import explain_report
from grader.explain.shrink_cases import shrink_counterexamples
from grader.grading.evaluation import Evaluation
from grader.grading.session import DEFAULT_OPTIONS, GradeOptions, JudgingSession
from grader.model.question import Question
from grader.model.report import Report


class GradingSession(JudgingSession):
    """Grades submissions of one question, one after another, and explains why they fail."""

    def explain(self, evaluation: Evaluation, report: Report) -> Report:
        """Return the report with ideas and explanations, and a smaller failing input if found."""
        report = explain_report(evaluation, report)
        return replace(report, checks=shrink_counterexamples(evaluation, report.checks))


def grade(
    question: Question,
    submission: bytes,
    *,
    seed: int,
    filename: str = "submission.py",
    proved: bool = False,
    parts: Collection[int] | None = None,
    options: GradeOptions = DEFAULT_OPTIONS,
) -> Report:
    """Grade one submission in a new session; see `JudgingSession` for the arguments."""
    with GradingSession(question, proved=proved, parts=parts) as session:
        return session.grade(submission, seed=seed, filename=filename, options=options)
