"""drill: interview drills and an auto-grader for deep-learning internals.

What a notebook uses has its name here, and is imported when it is first asked for:

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
    """Open a question: shown in a notebook, graded as often as wanted; `.question` is its data.

    Args:
        asked: its id, or BANK/ID.
        bank: the folder or YAML file that holds it; the user's banks where it is None.
        seed: which draws its numbers, where it has some to draw.

    Raises:
        UsageError: no bank has it, or two have it and none is named.
        BankError: it is broken; `problems` lists every fault.
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
