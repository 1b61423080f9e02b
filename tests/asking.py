"""Questions as tests want them asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from grader.model.question import Question
from grader.model.spec import Check


def with_checks(question: Question, checks: Sequence[Check], **changes: Any) -> Question:
    """Return a question of one part with other checks, and other keys of its spec."""
    only = question.spec.parts[0].model_copy(update={"checks": list(checks)})
    return replace(question, spec=question.spec.model_copy(update={"parts": [only], **changes}))
