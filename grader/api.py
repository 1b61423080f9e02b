"""What extensions and notebooks may rely on: these names stay, wherever they live in the package.

Each is imported when it is first asked for, so that an extension pays for what it uses.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import Field

    from grader.evaluation.api import (
        BankFault,
        Case,
        Evaluation,
        Finding,
        array_of,
        compare,
        describe,
        expected,
        same_value,
        tally,
    )  # fmt: skip
    from grader.kinds.base import Count, Kind
    from grader.model.extension import Generator
    from grader.model.keys import Amount, Check, Keys, Mention, Multiple, Name, RunName, Slug
    from grader.model.question import Question
    from grader.model.report import (
        Bar,
        Bars,
        Breakdown,
        CheckResult,
        Mismatch,
        PartResult,
        Report,
        Row,
    )
    from grader.model.verdict import Verdict
    from grader.session import GradingSession, grade

_HOMES = {
    "pydantic": ["Field"],
    "grader.evaluation.api": [
        "BankFault", "Evaluation", "Case", "Finding", "array_of", "compare", "describe",
        "expected", "same_value", "tally",
    ],
    "grader.kinds.base": ["Count", "Kind"],
    "grader.model.extension": ["Generator"],
    "grader.model.question": ["Question"],
    "grader.model.report": [
        "Bar", "Bars", "Breakdown", "CheckResult", "Mismatch", "PartResult", "Report", "Row",
    ],
    "grader.model.keys": [
        "Amount", "Check", "Keys", "Mention", "Multiple", "Name", "RunName", "Slug",
    ],
    "grader.model.verdict": ["Verdict"],
    "grader.session": ["GradingSession", "grade"],
}  # fmt: skip

__all__ = [
    "Amount",
    "BankFault",
    "Bar",
    "Bars",
    "Breakdown",
    "Case",
    "Check",
    "CheckResult",
    "Count",
    "Evaluation",
    "Field",
    "Finding",
    "Generator",
    "GradingSession",
    "Keys",
    "Kind",
    "Mention",
    "Mismatch",
    "Multiple",
    "Name",
    "PartResult",
    "Question",
    "Report",
    "Row",
    "RunName",
    "Slug",
    "Verdict",
    "array_of",
    "compare",
    "describe",
    "expected",
    "grade",
    "load_question",
    "same_value",
    "tally",
]  # fmt: skip


def load_question(asked: str, bank: Path | None = None) -> Question:
    """Load a question by its id.

    Args:
        asked: its id, or BANK/ID.
        bank: the folder or archive that holds it; the user's banks where it is None.

    Raises:
        UsageError: no bank has it, or two have it and none is named.
        BankError: it is broken; `problems` lists every fault.
    """
    from grader.bank import load
    from grader.bank.locate import banks

    return load(banks(bank), asked)


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
