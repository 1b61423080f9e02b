"""What the parts of a question promise: who is asked them, and that the first is quickly read."""

from __future__ import annotations

from collections.abc import Iterator

from grader.model.audit import AuditRow, Cell, Remark
from grader.model.question import Question

MOST_WORDS, MOST_CLAUSES = 90, 6  # of the first part, which is read in a minute
_STOPS = {Cell.KILLS, Cell.WOULD_KILL}


def reached(question: Question, row: AuditRow, part: int) -> bool:
    """Whether a program comes as far as a part, so that the checks of that part say anything."""
    earlier = (check for one in question.spec.parts[: part - 1] for check in one.checks)
    return not any(row.cells[check.id] in _STOPS for check in earlier if not check.stretch)


def remarks(question: Question) -> Iterator[Remark]:
    """A first part that is longer than what an interviewer says."""
    first = question.spec.parts[0]
    if (words := len(first.prompt.split())) > MOST_WORDS:
        text = f"the prompt of part 1 has {words} words, and {MOST_WORDS} are as many as are read"
        yield Remark("parts", f"{text}: tell the symptom, and leave the rest to the contract")
    if (clauses := len(first.contract)) > MOST_CLAUSES:
        yield Remark(
            "parts",
            f"the contract of part 1 has {clauses} clauses, and {MOST_CLAUSES} are as many as one "
            "keeps in mind: what is about edges belongs to a later part",
        )
