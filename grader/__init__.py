"""drill: interview drills and an auto-grader for deep-learning internals.

These are the names for notebooks.  Each is imported when it is first used:

    from pathlib import Path
    from grader import open_question

    question = open_question(ID)
    question.grade(Path("submission.py"))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from grader.model.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from grader.commands.notebook import OpenQuestion
    from grader.explain.session import GradingSession, grade
    from grader.grading.session import GradeOptions
    from grader.model.question import Question
    from grader.model.report import CheckResult, Report, Verdict

__all__ = [
    "CheckResult",
    "GradeOptions",
    "GradingSession",
    "OpenQuestion",
    "Question",
    "Report",
    "Verdict",
    "__version__",
    "grade",
    "open_question",
]
_HOMES = {
    "CheckResult": "grader.model.report",
    "GradeOptions": "grader.grading.session",
    "GradingSession": "grader.explain.session",
    "OpenQuestion": "grader.commands.notebook",
    "Question": "grader.model.question",
    "Report": "grader.model.report",
    "Verdict": "grader.model.report",
    "grade": "grader.explain.session",
}


def open_question(asked: str, bank: Path | str | None = None, *, seed: int = 0) -> OpenQuestion:
    """Open a question in a notebook, to show it there and to grade answers to it.

    Nothing is recorded, and no grade counts as an attempt.  `.question` is the question's data.

    Args:
        asked: ID of the question, or BANK/ID if several banks have that ID.
        bank: A bank: a folder of questions, or a YAML file with one (default: the banks of
            `drill bank list`).
        seed: Chooses the numbers in the text, for a question that has several sets of them.

    Raises:
        UsageError: `bank` is not a bank, no bank has the question, or several have it.
        BankError: The question is broken; `problems` lists every fault.
    """
    from pathlib import Path

    from grader.bank import banks_in_use, load_question
    from grader.commands.notebook import OpenQuestion

    return OpenQuestion(
        load_question(banks_in_use(None if bank is None else Path(bank)), asked, seed)
    )


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
