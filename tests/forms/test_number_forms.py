"""Numbers with units as people write them, and what is said of them in a grade."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.explain.session import GradingSession
from grader.forms.base import UnreadableAnswer
from grader.forms.quantities import parse_quantity
from grader.forms.units import UNITS
from grader.model.report import Report, Verdict
from tests.asking import asked
from tests.pages import page_of


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("112 GB", "B", 1.12e11),
        ("1.12e11 B", "B", 1.12e11),
        ("1,098,304.5 B", "B", 1_098_304.5),
        ("96KiB", "B", 98_304),
        (".5 kB", "B", 500),
        ("2 min", "s", 120),
        ("12 FLOP/B", "FLOP/B", 12),
        ("7", "1", 7),
        ("196608", "B", 196_608),
        ("12.3", "FLOP/B", 12.3),
        ("2*48*40*128", "B", 491_520),
        ("(2 + 4) * 1,000 kB", "B", 6e6),
        ("10 - 2 - 3 s", "s", 5),
        ("2 ** 3 ** 2 / -(-4) GiB", "B", 128 * 2**30),
        ("2.83\u00d710^10 bytes", "B", 2.83e10),
        ("3 \u00b5s", "s", 3e-6),
        ("3 \u03bcs", "s", 3e-6),
        ("0.0173 sec", "s", 0.0173),
        ("10 \u2212 2", "1", 8),
    ],
)
def test_a_quantity_is_read(text: str, unit: str, value: float) -> None:
    assert math.isclose(parse_quantity(text, unit), value, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("text", "unit", "said"),
    [
        ("2 * GB", "B", "expected a number, as 1.5 B, found 'GB'"),
        ("(1 + 2 GB", "B", "expected ) after what ( began"),
        ("3 4 GB", "B", "did not expect 4 here"),
        ("1 / 0 GB", "B", "1 / 0 GB is no number"),
        ("(-8) ** 0.5 s", "s", "(-8) ** 0.5 s is no number"),
        ("9 ** 9 ** 9 B", "B", "9 ** 9 ** 9 B is no number"),
        ("28.3 Gb", "B", "Gb is no unit here; GB is 1e9 bytes"),
        ("1,12,5 GB", "B", "1,12,5 reads as two numbers; write 1.12,5, and commas only between"),
        ("1e308 TB", "B", "a quantity is a finite number, 0 or more"),
        ("nan B", "B", "expected a number, as 1.5 B, found 'nan B'"),
        ("e5 B", "B", "expected a number, as 1.5 B"),
        ("x", "1", "expected a number, found 'x'"),
        ("17 GB", "s", "is a time, which GB is not; units are s, ms, us, ns, min or h"),
        ("-3 GB", "B", "a quantity is a finite number, 0 or more"),
        ("46 tok", "1", "is a pure number: write it without tok"),
        ("3 parsecs", "s", "parsecs is no unit here; units are"),
        ("3 x", "FLOP/B", "x is no unit here; units are FLOP/B"),
    ],
)
def test_text_that_is_not_a_quantity_is_refused(text: str, unit: str, said: str) -> None:
    with pytest.raises(UnreadableAnswer, match=re.escape(said)):
        parse_quantity(text, unit)


@given(
    st.floats(0, 1e30),
    st.sampled_from([(u, n) for u, (_, k) in UNITS.items() for n in k if n != "1"]),
)
def test_a_printed_quantity_is_read_back(value: float, unit: tuple[str, str]) -> None:
    base, name = unit
    assert math.isclose(
        parse_quantity(f"{value!r} {name}", base), value * UNITS[base][1][name], rel_tol=1e-12
    )


@given(
    st.text(max_size=40) | st.text(",0123456789._e", min_size=500), st.sampled_from(sorted(UNITS))
)
def test_any_text_is_a_quantity_or_a_sentence(text: str, unit: str) -> None:
    try:
        said = str(parse_quantity(text, unit))
    except UnreadableAnswer as refused:
        said = refused.sentence
    assert said not in {"inf", "nan"}
    assert 0 < len(said) < 200


# -- the file to begin with -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        (
            "decode-on-paper",
            "# A number, arithmetic, or a number with a unit: 14 GB, 2*48*128, 1.12e11 B.\n"
            "# Use a decimal point: 1.5 GB. GB is 1e9 bytes, GiB is 2**30 bytes.\n"
            "# You may round: an answer may be off by at most 3 %.\n",
        ),
        ("cluster-on-paper", "# You may round: an answer may be off by at most 2 %.\n"),
        (
            "seven-windows",
            "# A number, a fraction or arithmetic: 0.25, -3, 2/3, 2*4. Use a decimal point.\n"
            "# Only the first grade counts.\n"
            "# You may round: an answer may be off by at most 0.005.\n",
        ),
        (
            "softmax-five-lines",
            "# A formula: numbers, p[i], + - * / **, exp( ), log( ), sum(k, ...), d(i, j).\n",
        ),
    ],
)
def test_the_starter_file_has_the_rules(name: str, rules: str) -> None:
    question = asked(name)
    text = question.without_leading_blank_lines(question.starter).decode()
    head = text.partition("\n\n")[0] + "\n"
    assert rules in head


# -- graded ---------------------------------------------------------------------------------------

ESTIMATES = """kv_token = {}
kv_total = {}
decode_intensity = {}
decode_time = {}
prefill_time = {}
"""


@pytest.fixture(scope="module")
def session(one_zygote: None) -> Iterator[GradingSession]:
    with GradingSession(asked("decode-on-paper")) as opened:
        yield opened


def graded(session: GradingSession, text: str) -> Report:
    return session.grade(text.encode(), seed=11, filename="answers.txt")


def test_other_estimates_are_judged_if_some_are_open(session: GradingSession) -> None:
    report = graded(session, ESTIMATES.format("96 KiB", "28 GB", "?", "?", "?"))
    assert {check.id: check.message for check in report.checks} == {
        "cache": "1 case",
        "decode": "decode_intensity and decode_time have no answer yet",
        "prefill": "prefill_time has no answer yet",
    }


def test_the_caret_is_at_the_fault(session: GradingSession) -> None:
    report = graded(session, ESTIMATES.format("96 KiB", "28.3 Gb", "?", "?", "?"))
    assert report.message.startswith("answers.txt:2: kv_total: Gb is no unit here")
    assert report.raised is not None
    assert report.raised.frames[0].source[(report.raised.column or 0) - 1 :] == "Gb"


@pytest.mark.parametrize(
    ("one", "four", "said"),
    [
        ("?", "2/3", ": grad_x[1] has no answer yet; the first prediction counts"),
        ("?", "?", ": grad_x[1] and grad_x[4] have no answer yet; the first prediction counts"),
        ("2 GB", "2/3", ":1: grad_x[1]: is a pure number: write it without GB"),
        ("2/0", "2/3", ":1: grad_x[1]: 2/0 is no number"),
    ],
)
def test_an_unreadable_prediction_does_not_count(
    one: str, four: str, said: str, one_zygote: None
) -> None:
    lines = f"grad_x[1] = {one}\ngrad_x[4] = {four}\ngrad_x[6] = -0.5\n"
    with GradingSession(asked("seven-windows")) as session:
        report = graded(session, lines)
    assert report.verdict is Verdict.ERROR
    assert report.message == f"answers.txt{said}"


def test_a_page_of_written_numbers_says_each_of_them_once() -> None:
    answers = b"grad_x[1] = 2\ngrad_x[4] = 3\ngrad_x[6] = 0\n"
    with GradingSession(asked("seven-windows")) as session:
        wrong = page_of(session.grade(answers, seed=1), 80)
    assert wrong.count("8.000") == 1  # in the table
    assert "entries differ" not in wrong
