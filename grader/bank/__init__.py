"""F1: from a folder of YAML and Python files to a `Question`, or to an error that says where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.bank.locate import banks, closest, headers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from grader.model.question import Question

__all__ = ["banks", "closest", "headers", "load"]


def load(banks: Sequence[Path], question_id: str) -> Question:
    """Load one question.

    Raises:
        UsageError: no bank has the id; the nearest is suggested.
        BankError: the question is there and broken; every fault with file:line:column.
    """
    from grader.bank.loading import load as load_question  # YAML and pydantic only when needed

    return load_question(banks, question_id)
