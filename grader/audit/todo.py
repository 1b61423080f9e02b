"""What an author has left to decide: the places of a question that are marked TODO."""

from __future__ import annotations

from grader.model.audit import Remark
from grader.model.question import Question

SHOWN = 5


def remarks(question: Question) -> list[Remark]:
    """How many places are marked TODO, and where the first of them are."""
    places = question.todos
    if not places:
        return []
    more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    count = "1 TODO is" if len(places) == 1 else f"{len(places)} TODOs are"
    return [Remark("todo", f"{count} left: {', '.join(places[:SHOWN])}{more}")]
