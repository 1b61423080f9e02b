"""A mutant is told in the question's words, without its code."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from grader.explain.phrase import phrase
from grader.model.mutation import Mutant
from grader.sandbox.worker.mutant_words import words
from grader.sandbox.worker.mutants import derive

SOURCE = b"""
def total(x, scale):
    hidden = (x * scale).sum() / len(x)
    if hidden < 3:
        return hidden - secret(x) * 2
    return hidden
"""
INTERFACE = {"total", "x", "scale", "y"}


def mutants() -> list[Mutant]:
    return [Mutant(**m._asdict()) for m in derive(SOURCE)]


def test_no_sentence_shows_a_statement_or_a_local_name() -> None:
    made = {phrase(mutant, INTERFACE) for mutant in mutants()} - {""}
    assert len(made) > 8
    for text in made:
        assert text.endswith(", in total")
        assert not {"hidden", "secret"} & set(text.replace(",", " ").split())
        assert not set("()=<>*/[]") & set(text)
        assert not any(c.isdigit() and c != "1" for c in text)


@pytest.mark.parametrize(
    ("was", "becomes", "rule", "text"),
    [
        ("x * scale", "x", "dropped factor", "without scale"),
        ("x / n", "x", "dropped factor", "without a division"),
        ("x - y", "-y", "dropped term", "with one term of a difference missing"),
        ("x - y", "x", "dropped term", "with one term not subtracted"),
        ("2", "4", "another number", "with twice one of its numbers"),
        ("7", "0", "another number", ""),
        ("np.sum", "np.mean", "another function", "with a mean in the place of a sum"),
        ("np.vstack", "np.hstack", "another function", ""),
        ("x + y", "x - y", "another operator", "with something subtracted that should be added"),
    ],
)
def test_a_change_is_put_in_words(was: str, becomes: str, rule: str, text: str) -> None:
    old, new = (ast.parse(source, mode="eval").body for source in (was, becomes))
    mutant = Mutant("total", 1, rule, was, becomes, 0, 1, becomes, *words(old, new))
    assert phrase(mutant, INTERFACE) == (f"{text}, in total" if text else "")


def test_what_says_neither_where_nor_of_what_is_not_said() -> None:
    vague = Mutant("_helper", 1, "swapped arguments", "f(a, b)", "f(b, a)", 0, 1, "", "f", "f")
    assert phrase(vague, INTERFACE) == ""
    known = replace(vague, names=("f", "x", "scale"))
    assert phrase(known, INTERFACE) == "with x and scale in each other's place"
    method = replace(vague, scope="Own.backward")
    text = "with two arguments of a call in each other's place, in its backward"
    assert phrase(method, INTERFACE) == text
