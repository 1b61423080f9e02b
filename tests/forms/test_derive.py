"""Formulas: what they compute, that nothing else is one, and what is said of a line in a grade."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.explain.session import GradingSession
from grader.forms.base import MAX_MESSAGE_LENGTH, UnreadableAnswer
from grader.forms.derive import MAX_TOKENS, to_python
from grader.model.report import Report, Verdict
from tests.asking import asked

P, Z = np.array([0.2, 0.3, 0.5]), np.array([1.0, -2.0, 0.5])
LINES = {
    "L": "L = -sum(k, y[k] * log(p[k]))",
    "outer": "dL_dp[i] = -y[i] / p[i]",
    "inner": "dp_dz[i,j] = p[i] * (d(i, j) - p[j])",
    "chain": "chain[j] = sum(k, -y[k] * (d(k, j) - p[j]))",
    "dL_dz": "dL_dz[j] = p[j] - y[j]",
}


def value(text: str, i: int = 0, j: int = 1) -> float:
    """Evaluate a formula of p and z at two indices."""
    written, _ = to_python(text, ["p", "z"], ["i", "j"])
    names: dict[str, Any] = {"p": P, "z": Z, "i": i, "j": j, "n_": 3}
    return float(eval(written, names | {"exp": math.exp, "log": math.log}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1.0),
        ("-2 ** 2", -4.0),
        ("2 ** -1 ** 2", 0.5),
        ("2 ** 3 ** 2", 512.0),
        ("6 / 3 / 2", 1.0),
        ("1 - 2 * 3 - 4", -9.0),
        ("--2", 2.0),
        ("p[i] * (d(i, j) - p[j])", -0.06),
        ("p[2]", 0.5),
        ("exp(log(p[i]))", 0.2),
        ("exp(ln(p[i]))", 0.2),
        ("p[i] ^ 2", 0.04),
        ("\u22122 \u00d7 p[i] \u00b7 3", -1.2),
        ("sum(k, p[k] * sum(m, z[m]))", -0.5),
    ],
)
def test_a_formula_is_computed_as_written(text: str, expected: float) -> None:
    assert math.isclose(value(text), expected, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("text", "said", "at"),
    [
        ("q[i]", "q is not a symbol; use p, z, i, j", 0),
        ("p[k]", "k is no index; use i or j", 2),
        ("p[1.5]", "1.5 is no index", 2),
        ("p[9999999999]", "9999999999 is no index", 2),
        ("__import__(os)", "__import__ is not a symbol", 0),
        ("p[i] +", "expected a number, a symbol or (, found the end", 6),
        ("2 * )", "expected a number, a symbol or (, found )", 4),
        ("p[i] p[j]", "did not expect p here", 5),
        ("p + 1", "p has entries: write p[i or j]", 0),
        ("(p[i]", "expected ), found the end", 5),
        ("sum(i, p[i])", "i is an index already: sum needs a new one", 4),
        ("sum(if, p[i])", "sum needs a new index first", 4),
        ("sum(__debug__, p[i])", "sum needs a new index first", 4),
        ("sum(np, p[i])", "sum needs a new index first", 4),
        ("sum(", "sum needs a new index first", 4),
        ("sum(k p[k])", "expected ,, found p", 6),
        ("p[i].real", "'.' is not part of the notation", 4),
        ("i + 1", "i is an index: it stands in [ ] or in d( )", 0),
        ("1e999", "is too large a number", 0),
        ("", "expected a number, a symbol or (, found the end", 0),
        ("(" * 40 + "1", "is nested deeper than 30", 31),
        ("-" * 40 + "1", "is nested deeper than 30", 31),
        ("2 **" * 40 + "1", "is nested deeper than 30", 124),
        ("1" + "+1" * MAX_TOKENS, "has more than 400 symbols", 401),
        ("q" * 9000, "..." + "q" * 40, 0),
    ],
)
def test_text_that_is_not_a_formula_is_refused(text: str, said: str, at: int) -> None:
    with pytest.raises(UnreadableAnswer) as refused:
        to_python(text, ["p", "z"], ["i", "j"])
    assert said in refused.value.sentence
    assert refused.value.column == at
    assert len(refused.value.sentence) <= MAX_MESSAGE_LENGTH


def test_entries_are_summed_without_an_index() -> None:
    with pytest.raises(UnreadableAnswer, match=r"p has entries: write sum\(k, p\[k\]\)"):
        to_python("p", ["p"], [])


@given(st.text("pzijk[]()+-*/.,019 desumxplog_", max_size=60))
def test_any_text_is_a_formula_or_a_sentence_with_a_place(text: str) -> None:
    try:
        written, _ = to_python(text, ["p", "z"], ["i", "j"])
        place = 0
        compile(written, "formula", "eval")
    except UnreadableAnswer as refused:
        place = refused.column
    assert 0 <= place <= len(text)


# -- graded ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def session(one_zygote: None) -> Iterator[GradingSession]:
    with GradingSession(asked("softmax-five-lines")) as opened:
        yield opened


def graded(session: GradingSession, line: str, becomes: str) -> Report:
    """Five right lines, but for one."""
    text = "\n".join((LINES | {line: LINES[line].partition(" = ")[0] + f" = {becomes}"}).values())
    return session.grade(text.encode(), seed=11, filename="answers.txt")


def test_other_lines_are_judged_if_one_is_open(session: GradingSession) -> None:
    report = graded(session, "chain", "?")
    verdicts = {check.id: check.verdict for check in report.checks}
    assert verdicts.pop("chain") is Verdict.FAIL
    assert set(verdicts.values()) == {Verdict.PASS}
    open_ = next(check for check in report.checks if check.id == "chain")
    assert open_.message == "chain[j] has no answer yet"


@pytest.mark.parametrize(
    ("name", "formula", "said"),
    [
        ("chain", "p[j] - y[j]", "4: chain[j] is to be written with sum"),
        ("dL_dz", "sum(k, p[j] - y[j])", "5: dL_dz[j] is to be written without sum"),
        ("L", "q", "1: q is not a symbol; use z, p, y"),
    ],
)
def test_a_line_that_breaks_the_rules_has_its_place(
    name: str, formula: str, said: str, session: GradingSession
) -> None:
    report = graded(session, name, formula)
    assert report.message == f"answers.txt:{said}"
    assert report.raised is not None
    assert report.raised.frames[0].line == int(said[0])


@pytest.mark.parametrize(
    "idle", ["0 * sum(k, p[k])", "sum(k, p[k]) - sum(k, p[k])", "1e-300 * sum(k, p[k])"]
)
def test_a_sum_that_could_be_left_out_does_not_count(idle: str, session: GradingSession) -> None:
    chain = next(c for c in graded(session, "chain", f"p[j] - y[j] + {idle}").checks if c.raised)
    assert chain.id == "chain"
    assert chain.raised is not None
    said = "chain[j] is to be written with sum, and here sum can be left out"
    assert chain.raised.message == said


def test_an_overflow_fails_only_its_line(session: GradingSession) -> None:
    report = graded(session, "outer", "9 ** 9 ** 9")
    verdicts = {check.id: check.verdict for check in report.checks}
    assert verdicts.pop("outer") is Verdict.ERROR
    assert set(verdicts.values()) == {Verdict.PASS}
    outer = next(check for check in report.checks if check.id == "outer")
    assert outer.raised is not None
    assert outer.raised.type == "OverflowError"
    (frame,) = outer.raised.frames
    assert (frame.line, frame.source) == (2, "dL_dp[i] = 9 ** 9 ** 9")  # of the file
