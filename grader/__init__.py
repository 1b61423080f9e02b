"""drill: interview drills and an auto-grader for deep-learning internals.

What a notebook uses has its name here, and is imported when it is first asked for:

    from pathlib import Path
    from grader import GradingSession, open_question

    with GradingSession(open_question(ID)) as session:
        report = session.grade(Path("submission.py").read_bytes(), seed=1)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model.question import Question
    from grader.model.report import CheckResult, Report, Verdict
    from grader.session import GradingSession, grade

__version__ = "0.1.0"
__all__ = [
    "CheckResult",
    "GradingSession",
    "Question",
    "Report",
    "Verdict",
    "grade",
    "open_question",
]
_HOMES = {
    "CheckResult": "grader.model.report",
    "GradingSession": "grader.session",
    "Question": "grader.model.question",
    "Report": "grader.model.report",
    "Verdict": "grader.model.report",
    "grade": "grader.session",
}


def open_question(asked: str, bank: Path | None = None) -> Question:
    """Load a question with all its programs.

    Args:
        asked: its id, or BANK/ID.
        bank: the folder or YAML file that holds it; the user's banks where it is None.

    Raises:
        UsageError: no bank has it, or two have it and none is named.
        BankError: it is broken; `problems` lists every fault.
    """
    from grader.bank import banks, load

    return load(banks(bank), asked)


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
