"""Questions that are answered by choosing stand with the part that they belong to."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.bank import load
from grader.model.question import Question
from grader.reports.blocks import render_text
from grader.reports.question import question_markdown, requested
from tests.kinds.one_file import written
from tests.kinds.test_choices import REFERENCE, REST
from tests.reports.test_question_page import document


@pytest.fixture
def question(tmp_path: Path) -> Question:
    return load([written(tmp_path, REST, REFERENCE)], "one")


def test_a_document_has_every_question_and_all_answers_to_it(question: Question) -> None:
    text = document(question)
    assert "Questions\n\n  fell: Why did it fall?\n" in text
    for line in ("a By luck.", "b The inner product is positive.", "c None."):
        assert f"  {line}\n" in text


def test_so_does_the_file(question: Question) -> None:
    text = question_markdown(question)
    assert "## Questions\n\n**fell:** Why did it fall?\n\n- `a` By luck.\n- `b` The inner" in text
    assert text.index("**fell:**") < text.index("**sum:**")


def test_the_request_of_a_part_says_how_many_there_are(question: Question) -> None:
    text = render_text(requested(question, 1))
    assert text.endswith("and 2 questions to choose an answer to.\n")
