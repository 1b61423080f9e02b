"""F4: a question and a submission become a Report; diagnosis; the audit of a bank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.judge.grading import grade

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.model.audit import AuditReport
    from grader.model.question import Question

__all__ = ["audit", "grade"]


def audit(
    question: Question, *, seeds: Sequence[int], progress: Callable[[str], None] | None = None
) -> AuditReport:
    """Prove a question, or say what is wrong with it; see `grader.judge.auditing`."""
    from grader.judge.auditing import audit as prove  # a grade does not pay for importing it

    return prove(question, seeds=seeds, progress=progress)
