"""Texts of a question fit: prompts and contracts are short, lines have 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from grader import bank, forms
from grader.model.question import Question
from grader.reports import question as asks
from grader.reports.blocks import Commands, render_terminal
from grader.reports.question import question_markdown
from grader.reports.text_layout import display_width, without_styles
from tests.content import ALWAYS, each_question

ROOT = Path(__file__).parents[2]
PROMPT, CONTRACT, WIDEST = 90, 120, 80  # words, words of a part, columns
DIFF = 20  # columns more, of the lines of a diff: it is shown as it was written


def too_long(question: Question) -> Iterator[str]:
    """Yield the texts that are too long."""
    for number, part in enumerate(question.spec.parts, 1):
        if (words := len(part.prompt.split())) > PROMPT:
            yield f"the prompt of part {number} has {words} words"
        if (words := sum(len(clause.split()) for clause in part.contract)) > CONTRACT:
            yield f"the contract of part {number} has {words} words"
    starter = question.without_leading_blank_lines(question.starter).decode()
    for name, text in (
        (forms.form_of(question.spec).file, starter),
        ("QUESTION.md", question_markdown(question)),
    ):
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > WIDEST + DIFF * (line[4:5] in {"+", "-"}):
                yield f"line {number} of {name} has {len(line)} columns"


@each_question(always=ALWAYS)
def test_texts_of_a_question_have_the_allowed_length(name: str) -> None:
    assert list(too_long(bank.load_question([ROOT], name))) == []


def pages(question: Question, width: int) -> Iterator[str]:
    """The lines of what `show`, `start` and a pass say of every part, on 24 rows."""
    several = range(1, len(question.spec.parts) + 1)
    started = [asks.question_page(question, n, [Commands(("drill grade",))]) for n in several]
    passed = [asks.part_request_blocks(question, n) for n in several[1:]]
    for rows, page in (
        (None, tuple(asks.question_blocks(question))),
        *((23, page) for page in started),
        *((17, page) for page in passed),
    ):
        yield from map(without_styles, render_terminal(page, width, rows=rows))


@each_question(always=ALWAYS)
def test_no_page_of_a_question_is_wider_than_its_window(name: str) -> None:
    question = bank.load_question([ROOT], name)
    for width in (80, 60, 40):
        wide = [line for line in pages(question, width) if display_width(line) > width]
        assert [line for line in wide if len(line.split()) > 1] == [], width  # a word stays whole


@each_question(always=ALWAYS)
def test_a_pass_introduces_the_next_part_with_its_signatures(name: str) -> None:
    question = bank.load_question([ROOT], name)
    for number, part in enumerate(question.spec.parts[1:], 2):
        lines = render_terminal(asks.part_request_blocks(question, number), 80, rows=17)
        page = "".join("".join(map(without_styles, lines)).split())
        allowed = ([part.interface], asks.signatures(part.interface) if part.interface else [])
        assert any(all("".join(line.split()) in page for line in some) for some in allowed)
