"""Formulas: what they compute, and that nothing else is a formula."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.forms.formulas import LONGEST, MOST_TOKENS, FormulaError, python

P, Z = np.array([0.2, 0.3, 0.5]), np.array([1.0, -2.0, 0.5])


def value(text: str, i: int = 0, j: int = 1) -> float:
    """Evaluate a formula of p and z at two indices."""
    written, _ = python(text, ["p", "z"], ["i", "j"])
    names: dict[str, Any] = {"p": P, "z": Z, "i": i, "j": j, "n_": 3}
    return float(eval(written, names | {"exp": math.exp, "log": math.log}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1.0),
        ("-2 ** 2", -4.0),
        ("6 / 3 / 2", 1.0),
        ("--2", 2.0),
        ("p[i] * (d(i, j) - p[j])", -0.06),
        ("p[2]", 0.5),
        ("exp(log(p[i]))", 0.2),
    ],
)
def test_it_computes_what_is_written(text: str, expected: float) -> None:
    assert math.isclose(value(text), expected, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("text", "said", "at"),
    [
        ("q[i]", "q is not a symbol; use p, z, i, j", 0),
        ("p[k]", "k is no index; use i or j", 2),
        ("__import__(os)", "__import__ is not a symbol", 0),
        ("p[i] +", "expected a number, a symbol or ( at the end", 6),
        ("p[i] p[j]", "did not expect p here", 5),
        ("sum(i, p[i])", "i is an index already: sum needs a new one", 4),
        ("sum(if, p[i])", "sum needs a new index first", 4),
        ("sum(k p[k])", "expected ,, found p", 6),
        ("ln(p[i])", "use p, z, i, j; the natural logarithm is log", 0),
        ("p[i].real", "'.' is not part of the notation", 4),
        ("p[i] ^ 2", "'^' is not part of the notation; a power is **", 5),
        ("i + 1", "i is an index: it stands in [ ] or in d( )", 0),
        ("1e999", "is too large a number", 0),
        ("", "expected a number, a symbol or ( at the end", 0),
    ],
)
def test_what_is_no_formula_is_refused(text: str, said: str, at: int) -> None:
    with pytest.raises(FormulaError) as refused:
        python(text, ["p", "z"], ["i", "j"])
    assert said in str(refused.value)
    assert refused.value.at == at
    assert len(str(refused.value)) <= LONGEST


@pytest.mark.parametrize("text", ["(" * 40 + "1", "-" * 40 + "1", "1" + "+1" * MOST_TOKENS])
def test_what_is_endless_is_refused(text: str) -> None:
    with pytest.raises(FormulaError, match=r"nested deeper|more than 400"):
        python(text, [], [])


def test_entries_are_summed_where_there_is_no_index() -> None:
    with pytest.raises(FormulaError, match=r"p has entries: write sum\(k, p\[k\]\)"):
        python("p", ["p"], [])


def test_a_sum_runs_over_all_entries_and_may_hold_another() -> None:
    assert math.isclose(value("sum(k, p[k] * sum(m, z[m]))"), -0.5, rel_tol=1e-12)


@given(st.text("pzijk[]()+-*/.,019 desumxplog_", max_size=60))
def test_any_text_is_a_formula_or_a_sentence_with_a_place(text: str) -> None:
    try:
        written, _ = python(text, ["p", "z"], ["i", "j"])
        place = 0
        compile(written, "formula", "eval")
    except FormulaError as refused:
        place = refused.at
    assert 0 <= place <= len(text)
