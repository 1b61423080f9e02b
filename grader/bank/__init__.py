"""YAML and Python, in a folder or one file, to a `Question` or a list of faults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.bank.locate import banks, find, headers, holds, names
from grader.model.errors import closest
from grader.model.question import Question

__all__ = ["banks", "closest", "find", "headers", "holds", "load", "names"]


def load(banks: Sequence[Path], asked: str) -> Question:
    """Load one question, asked for as `ID` or as `BANK/ID`.

    Raises:
        UsageError: no bank has it, the nearest is suggested; or two have it, both are named.
        BankError: the question is there and broken; every fault with file:line:column.
    """
    from grader.bank.loading import load_from  # YAML and pydantic only when needed

    return load_from(*find(banks, asked))
