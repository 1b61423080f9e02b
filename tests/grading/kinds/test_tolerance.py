"""What a check allows besides rounding, with its reason, in every kind that compares values."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.bank import load_question
from grader.grading.tolerance_bands import allowed_by_check
from grader.model.errors import BankError
from grader.model.report import Verdict
from grader.model.spec import Tolerance
from grader.reports.blocks import render_text
from grader.reports.question import question_blocks, question_markdown
from tests.grading.kinds.one_file import graded, of, opened, written
from tests.harness import ROOT

pytestmark = pytest.mark.usefixtures("one_zygote")

CLIPPED = """\
run:
  - out = clip(g, most)
cases:
  loud: {g: [3.0, 4.0], most: 1.0}
  drawn: {g: {normal: [9], scale: 40.0}, most: 0.5}
checks:
  - id: clipped
    kind: outputs
    of: out
    TOLERANCE
"""
WRITTEN = "tolerance: {relative: 1.0e-6, because: libraries add a small number to the norm.}"
CLIP = """
import numpy as np

def clip(g, most):
    return g * min(1.0, most / (np.sqrt((g * g).sum()) ADDED))
"""
EXACT, FAITHFUL = CLIP.replace(" ADDED", ""), CLIP.replace("ADDED", "+ 1e-6")
FAR = CLIP.replace("ADDED", "+ 1e-3")


def tolerance(**keys: Any) -> Tolerance:
    return Tolerance(because="It is so.", **keys)


@pytest.mark.parametrize(
    ("keys", "widths"),
    [
        ({"absolute": 0.5}, [0.5, 0.5, 0.5]),
        ({"relative": 0.01}, [0.0, 0.0981, 12.0]),
    ],
)
def test_the_larger_of_absolute_and_relative_tolerance_is_allowed(
    keys: dict[str, Any], widths: list[float]
) -> None:
    allowed = allowed_by_check(tolerance(**keys), np.array([0.0, -9.81, 1200.0]))
    assert np.allclose(allowed, widths, rtol=1e-12, atol=0)


def test_a_deviation_within_the_stated_tolerance_passes(tmp_path: Path) -> None:
    with opened(tmp_path, CLIPPED.replace("TOLERANCE", WRITTEN), EXACT) as session:
        assert graded(session, FAITHFUL).verdict is Verdict.PASS
        report = graded(session, FAR)
        assert report.verdict is Verdict.FAIL
        mismatch = of(report, "clipped").mismatch
        assert mismatch is not None
        assert mismatch.allowed == "+-8e-7", "the width at this entry, and no other number"


def test_a_deviation_without_a_stated_tolerance_fails(tmp_path: Path) -> None:
    with opened(tmp_path, CLIPPED.replace("TOLERANCE", "about: it is clipped"), EXACT) as session:
        assert graded(session, FAITHFUL).verdict is Verdict.FAIL


OTHER = """\
run:
  - grad_x, total, count = f(x)
  - y = g(x)
cases:
  few: {x: [1.0, 2.0]}
checks:
  - {id: slope, kind: gradcheck, loss: y, gradients: {x: grad_x}, TOLERANCE}
  - {id: parts, kind: numbers, of: total, parts: [sum, most], TOLERANCE}
  - {id: course, kind: curve, of: count, falls: true, TOLERANCE}
  - {id: whole, kind: outputs, of: y, TOLERANCE}
"""
F = "def g(x):\n    return float((x * x).sum())\n\n\ndef f(x):\n"
RIGHT = F + "    return 2 * x, {'sum': 3, 'most': 9.80665}, [3.0, 2.0, 1.0]\n"
ABOUT = F + "    return 2.04 * x, {'sum': 3.05, 'most': 9.8}, [3.05, 1.98, 1.01]\n"
FAR_OFF = F + "    return 2.5 * x, {'sum': 3.05, 'most': 9.5}, [3.0, 2.5, 1.0]\n"
ROUGH = "tolerance: {relative: 0.03, because: Estimates will do.}"


def test_every_kind_that_compares_values_takes_a_tolerance(tmp_path: Path) -> None:
    with opened(tmp_path, OTHER.replace("TOLERANCE", ROUGH), RIGHT) as session:
        report = graded(session, ABOUT)
        assert report.verdict is Verdict.PASS, [c.message for c in report.checks]
        report = graded(session, FAR_OFF)
        assert [c.id for c in report.checks if c.verdict is Verdict.FAIL] == [
            "slope", "parts", "course",
        ]  # fmt: skip
        allowed = [c.mismatch.allowed for c in report.checks if c.mismatch]
        assert allowed == ["+-0.12", "+-0.29", "+-0.06"]
        assert of(report, "parts").message == "most is wrong in case few"
        assert of(report, "course").message == (
            "count strays from the expected one in 1 of 3 values (case few)"
        )


def test_without_a_tolerance_numbers_are_exact_and_gradients_nearly(tmp_path: Path) -> None:
    with opened(tmp_path, OTHER.replace(", TOLERANCE", ""), RIGHT) as session:
        failed = [c.id for c in graded(session, ABOUT).checks if c.verdict is Verdict.FAIL]
    assert failed == ["slope", "parts"]


def test_a_tolerance_applies_to_the_results_that_it_names(tmp_path: Path) -> None:
    spec = """\
    run:
      - a, b = f(x)
    cases:
      few: {x: [1.0, 2.0]}
    checks:
      - {id: both, kind: outputs, of: [a, b],
         tolerance: {absolute: 0.1, of: a, because: a is measured.}}
    """
    right = "def f(x):\n    return x * 1.0, x * 2.0\n"
    with opened(tmp_path, spec, right) as session:
        assert graded(session, right.replace("x * 1.0", "x + 0.05")).verdict is Verdict.PASS
        assert graded(session, right.replace("x * 2.0", "2 * x + 0.05")).verdict is Verdict.FAIL


def test_the_candidate_is_shown_what_is_allowed_and_why(tmp_path: Path) -> None:
    question = load_question(
        [written(tmp_path, CLIPPED.replace("TOLERANCE", WRITTEN), EXACT)], "one"
    )
    page = " ".join(render_text(question_blocks(question)).split())
    for text in (page, " ".join(question_markdown(question).split())):
        assert "may be off by at most 0.0001 %: libraries add a small number to the norm." in text


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"relative": 0.03}, "off by at most 3 %"),
        ({"absolute": 1e-5}, "off by at most 1e-5"),
        ({"relative": 0.002, "absolute": 1.2e-7}, "off by at most 0.2 % or by 1.2e-7"),
    ],
)
def test_a_tolerance_is_shown_once_and_in_one_spelling(keys: dict[str, Any], words: str) -> None:
    assert tolerance(**keys).allowed_in_words == words


def test_no_clause_repeats_the_tolerance_of_its_check() -> None:
    message = []
    for path in sorted((ROOT / "questions").glob("*.yaml")):
        for part in load_question([ROOT], path.stem).spec.parts:
            allowed = [getattr(check, "tolerance", None) for check in part.checks]
            widths = {f"{w:g}" for t in allowed if t for w in (t.absolute, t.relative) if w}
            widths |= {f"{100 * t.relative:g} %" for t in allowed if t and t.relative}
            widths |= {width.replace("e-0", "e-") for width in widths}
            for clause in part.contract:
                found_in = (re.search(rf"(?<![\d.]){width}(?!\w)", clause) for width in widths)
                message += [(path.stem, clause)] * any(found_in)
    assert message == []


def test_where_one_result_has_two_tolerances_the_rarer_one_says_where_it_holds(
    tmp_path: Path,
) -> None:
    check = """
      - {{id: {}, kind: outputs, of: y, cases: few, tolerance: {{absolute: {}, because: So.}}}}"""
    tolerances = {"a": 0.1, "b": 0.1, "far": 0.001}
    all_checks = "".join(check.format(name, width) for name, width in tolerances.items())
    spec = f"run:\n  - y = f(x)\ncases:\n  few: {{x: [1.0]}}\nchecks:{all_checks}\n"
    bank = written(tmp_path, spec, "def f(x):\n    return x * 2\n")
    hidden = " ".join(question_markdown(load_question([bank], "one")).split())
    assert "- Results may be off by at most 0.1: So." in hidden
    assert hidden.count("may be off") == 1  # what it does not know by name says nothing more
    bank.write_text(bank.read_text().replace("def f(x): ...", "def f(x): return y"))
    question = load_question([bank], "one")
    page = " ".join(question_markdown(question).split())
    assert "- `y` may be off by at most 0.1: So." in page
    assert "- `y` may be off by at most 0.001: So. (Where this is checked: far.)" in page


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ("tolerance: {relative: 1.0e-6}", "because"),
        ("tolerance: {because: So.}", "expected absolute or relative, found none"),
        ("tolerance: {relative: 2, because: So.}", "relative"),
        ("tolerance: {digits: 0, because: So.}", "digits"),
        ("tolerance: {absolute: 1, because: So., of: z}", "expected a result of the run main"),
        ("exact: true\n    " + WRITTEN, "expected exact or a tolerance, found both"),
    ],
)
def test_a_tolerance_that_makes_no_sense_is_refused(tmp_path: Path, own: str, message: str) -> None:
    with pytest.raises(BankError) as refused:
        load_question([written(tmp_path, CLIPPED.replace("TOLERANCE", own), EXACT)], "one")
    assert message in refused.value.message
