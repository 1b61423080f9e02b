"""The question on a terminal and as a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.bank import load_question
from grader.grading.kinds import registry
from grader.model.question import Question
from grader.reports import question as asks
from grader.reports.blocks import Commands, render_terminal, render_text
from grader.reports.question import question_markdown
from grader.reports.text_layout import display_width
from tests.grading.kinds.one_file import written
from tests.grading.kinds.test_choices_causes_findings import CHOICES, CHOSEN
from tests.pages import text as text_of
from tests.reports.conftest import Golden

SPEC = {
    "format": 3,
    "title": "The mean that was a sum",
    "track": "basics",
    "level": "warm-up",
    "minutes": 5,
    "uses": ["numpy"],
    "prompt": "A colleague's `mean` is right on one row and wrong on two.\nSay why:\n\n"
    "- what it divides by, which is a sentence long enough to have to be wrapped at the end\n"
    "- what it should\n\nThen fix it.\n\n    mean([1, 2]) == 3  # as it is\n",
    "interface": "def mean(x):            # x (N, K) float64; N may be 0, and then the mean "
    "is 0.0 by definition\n"
    "    # -> the mean over all entries, a float, also where the entries are large and "
    "the mean is not\n"
    "    ...\n",
    "contract": ["Inputs are\nnever modified.", "`x` may have any strides."],
    "run": ["m = mean(x)"],
    "cases": {"one": {"x": [[1.0]]}},
    "checks": [{"id": "value", "kind": "outputs", "of": "m"}],
}


@pytest.fixture
def question() -> Question:
    """A small question with every kind of text."""
    spec = registry.read_spec(SPEC)
    here = Path()
    return Question("plain-mean", here, spec, {}, b"", b"", None, {}, {}, here / "plain-mean.yaml")


def page(question: Question, width: int, rows: int = 24) -> str:
    """The page of a start, as plain text."""
    blocks = asks.question_page(question, 1, [Commands(("drill grade",))])
    return text_of(render_terminal(blocks, width, rows=max(rows, asks.MIN_ROWS)))


def document(question: Question, width: int = 80) -> str:
    """All of it, as plain text."""
    return text_of(render_terminal([*asks.question_blocks(question)], width))


def test_a_question_equals_its_snapshot_and_keeps_every_word(
    question: Question, golden: Golden
) -> None:
    golden("question_markdown", question_markdown(question))
    own = str(SPEC["interface"])
    for width in (60, 80):
        text = document(question, width)
        golden(f"question_{width}", text)
        golden(f"question_page_{width}", page(question, width))
        assert set(f"{SPEC['prompt']} {SPEC['interface']}".split()) - {"-"} <= set(text.split())
        assert all(
            display_width(line) <= width for line in text.splitlines() if line.strip() not in own
        )


@pytest.mark.parametrize("rows", [10, 23, 30, 60])
@pytest.mark.parametrize("clauses", [0, 3, 8, 40])
def test_the_page_fits_the_screen_and_counts_the_clauses_left_out(
    question: Question, clauses: int, rows: int
) -> None:
    part = question.spec.parts[0].model_copy(
        update={"contract": [f"Clause number {n} is two lines. " * 4 for n in range(clauses)]}
    )
    spec = question.spec.model_copy(update={"parts": [part]})
    text = page(replace(question, spec=spec), 80, rows)
    assert len(text.splitlines()) <= max(rows, asks.MIN_ROWS)
    left = clauses - text.count("Clause number") // 4
    assert (f" {left} more clause" in text or f"  {left} clauses" in text) == bool(left)
    assert text.endswith("\nNext: drill grade\n")
    assert "Then fix it." in text


def test_an_interface_is_cut_down_to_its_signatures() -> None:
    interface = """
def forward(x, kernel,
            padding=0):
    # x (N, C)
    return y, ctx  # any object

def backward(grad_y, ctx): ...  # (N,) -> (N, C)
"""
    assert asks.signatures(interface) == [
        "forward(x, kernel, padding=0) -> y, ctx",
        "backward(grad_y, ctx)",
    ]
    assert asks.signatures("f(x) -> y\nx (N,)\n") == ["f(x) -> y", "x (N,)"]
    several = "def f(x: int,\n      n: int = 3) -> int: ...\ndef g(y): ...\n"
    assert asks.signatures(several) == ["f(x: int, n: int = 3) -> int", "g(y)"]


def test_a_choice_question_is_shown_with_all_its_answers(tmp_path: Path) -> None:
    choices = load_question([written(tmp_path, CHOICES, CHOSEN)], "one")
    text = document(choices)
    assert "Questions\n\n  fell: Why did it fall?\n" in text
    for line in ("a By luck.", "b The inner product is positive.", "c None."):
        assert f"  {line}\n" in text
    file = question_markdown(choices)
    assert "## Questions\n\n**fell:** Why did it fall?\n\n- `a` By luck.\n- `b` The inner" in file
    assert file.index("**fell:**") < file.index("**sum:**")
    request = render_text(asks.part_request_blocks(choices, 1))
    assert "See QUESTION.md, also for 2 questions to choose an answer to.\n" in request
