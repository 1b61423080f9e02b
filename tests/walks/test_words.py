"""What is read of a question fits: prompts and contracts are short, lines have 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import bank, forms
from grader.model.question import Question
from grader.reports.question import question_markdown

ROOT = Path(__file__).parents[2]
QUESTIONS = sorted(path.stem for path in (ROOT / "questions").glob("*.yaml"))
PROMPT, CONTRACT, WIDEST = 90, 120, 80  # words, words of a part, columns
DIFF = 20  # columns more, of the lines of a diff: it is shown as it was written


def too_long(question: Question) -> Iterator[str]:
    """What is longer than anybody reads."""
    for number, part in enumerate(question.spec.parts, 1):
        if (words := len(part.prompt.split())) > PROMPT:
            yield f"the prompt of part {number} has {words} words"
        if (words := sum(len(clause.split()) for clause in part.contract)) > CONTRACT:
            yield f"the contract of part {number} has {words} words"
    starter = question.handed_out(question.starter).decode()
    for name, text in (
        (forms.of(question.spec).file, starter),
        ("QUESTION.md", question_markdown(question)),
    ):
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > WIDEST + DIFF * (line[4:5] in {"+", "-"}):
                yield f"line {number} of {name} has {len(line)} columns"


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_is_read_of_a_question_fits(name: str) -> None:
    assert list(too_long(bank.load([ROOT], name))) == []
