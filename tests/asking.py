"""Questions as tests want them asked, and reports as they compare them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader import bank
from grader.model.question import Question
from grader.model.report import Report
from grader.model.spec import Check

ROOT = Path(__file__).parents[1]


def asked(question_id: str) -> Question:
    """Return a question of ours."""
    return bank.load_question([ROOT], question_id)


def settled(report: Report) -> Report:
    """Return a report without what differs from one run of the same file to the next."""
    checks = tuple(replace(c, figures={}) for c in report.checks if c.kind != "performance")
    return replace(report, seconds=0.0, checks=checks)


def with_checks(question: Question, checks: Sequence[Check], **changes: Any) -> Question:
    """Return a question of one part with other checks, and other keys of its spec."""
    only = question.spec.parts[0].model_copy(update={"checks": list(checks)})
    return replace(question, spec=question.spec.model_copy(update={"parts": [only], **changes}))
