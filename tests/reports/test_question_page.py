"""The question on a terminal and as a file."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from grader.kinds import registry
from grader.model.question import Question
from grader.reports.prose import blocks
from grader.reports.question import question_markdown, render_question
from tests.reports.conftest import Golden, shown

SPEC = {
    "format": 1,
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
    spec = registry.read(SPEC)
    here = Path()
    return Question("plain-mean", here, spec, {}, b"", b"", None, {}, here / "plain-mean.yaml")


@pytest.mark.parametrize("width", [60, 80])
def test_a_question_reads_as_it_did(question: Question, width: int, golden: Golden) -> None:
    golden(f"question_{width}", shown(render_question(question, width), width))


def test_the_markdown_file_reads_as_it_did(question: Question, golden: Golden) -> None:
    golden("question_markdown", question_markdown(question))


def test_what_a_solution_may_not_call_is_said_before_it_is_written(question: Question) -> None:
    spec = question.spec.model_copy(update={"forbids": ["numpy.mean", "numpy.average"]})
    strict = replace(question, spec=spec)
    sentence = "Write it yourself: a solution calls none of `numpy.mean`, `numpy.average`."
    assert f"- {sentence}\n" in question_markdown(strict)
    assert sentence in " ".join(shown(render_question(strict, 100), 100).split())
    assert "Write it yourself" not in question_markdown(question)


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_word_of_the_question_is_lost(question: Question, width: int) -> None:
    text = shown(render_question(question, width), width)
    assert all(cell_len(line) <= width for line in text.splitlines())
    words = f"{SPEC['prompt']} {SPEC['interface']}".split()
    assert set(words) - {"-"} <= set(text.split())


def test_colour_highlights_the_code_and_changes_no_letter(question: Question) -> None:
    coloured = shown(render_question(question, 80), 80, colour=True)
    assert "\x1b[" in coloured
    parsed = "".join(
        piece.partition("m")[2] if n else piece for n, piece in enumerate(coloured.split("\x1b["))
    )
    assert parsed == shown(render_question(question, 80), 80)


def test_without_colour_no_highlighter_is_loaded(question: Question) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    Console(file=out, width=80, color_system=None, _environ={}).print(render_question(question, 80))
    out.flush()
    assert b"def mean(x):" in raw.getvalue()


def test_blocks_are_told_apart() -> None:
    text = "one\ntwo\n\n1. first\n   more\n2. second\n\n```python\ncode\n\n  in\n```\nafter\n"
    assert [(b.kind, b.mark, b.lines) for b in blocks(text)] == [
        ("paragraph", "", ("one", "two")),
        ("item", "1.", ("first", "more")),
        ("item", "2.", ("second",)),
        ("code", "", ("code", "", "  in")),
        ("paragraph", "", ("after",)),
    ]
