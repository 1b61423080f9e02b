"""The kind of check whose questions have several answers to choose from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.model.errors import BankError
from grader.model.report import Verdict
from grader.session import GradingSession
from tests.kinds.one_file import graded, of, opened

REST = """
  driver: |
    def why(program):
        return getattr(program, "WHY", None)
run: ["y = f(x)", "why = driver.why()"]
cases:
  one: {x: 1.5}
  two: {x: 2.5}
checks:
  - {id: y, kind: outputs, of: y}
  - id: why
    kind: choices
    of: why
    questions:
      fell: {ask: Why did it fall?, answers: {a: By luck., b: The inner product is positive.}}
      sum: {ask: Which test fails?, answers: {a: The sum., b: The sign., c: None.}}
"""
REFERENCE = """
WHY = {"fell": "b", "sum": "a"}

def f(x):
    return 2 * x
"""
RIGHT = "def f(x): return 2 * x\n"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GradingSession]:
    with opened(tmp_path_factory.mktemp("bank"), REST, REFERENCE) as found:
        yield found


@pytest.mark.parametrize(
    "answers",
    ['{"fell": "b", "sum": "a"}', '{"sum": " A", "fell": "B\\n"}'],
)
def test_right_answers_pass_however_they_are_written(session: GradingSession, answers: str) -> None:
    found = of(graded(session, f"WHY = {answers}\n{RIGHT}"), "why")
    assert (found.verdict, found.message) == (Verdict.PASS, "2 of 2 right")


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ('{"fell": "a", "sum": "a"}', "not all 2 answers are right"),
        ('{"fell": "a", "sum": "b"}', "not all 2 answers are right"),
        ('{"fell": "b"}', "sum is not answered"),
        ('{"fell": "b", "sum": None}', "sum is not answered"),
        ('{"fell": "", "sum": 1}', "fell, sum are not answered"),
        ('{"fell": "c", "sum": "a"}', "fell is answered by 'c', expected one of a, b"),
        ('{"fell": "ab", "sum": "a"}', "fell is answered by 'ab', expected one of a, b"),
        ('{"fell": "b", "sum": "a", "Sum": "a"}', "why answers 'Sum'; asked are fell, sum"),
        ('["b", "a"]', "why is a list of 2, expected a dict with fell, sum"),
        ("None", "why is None, expected a dict with fell, sum"),
    ],
)
def test_what_is_wrong_is_said_without_saying_which(
    session: GradingSession, answers: str, message: str
) -> None:
    report = graded(session, f"WHY = {answers}\n{RIGHT}")
    found = of(report, "why")
    assert (found.verdict, found.message) == (Verdict.FAIL, message)
    assert not report.misconceptions
    assert not found.failing, "a case has nothing to do with it"


def test_answers_left_out_are_missing(session: GradingSession) -> None:
    assert of(graded(session, RIGHT), "why").message.startswith("why is None")


def test_a_reference_that_chooses_what_nobody_can_is_at_fault(tmp_path: Path) -> None:
    with opened(tmp_path, REST, REFERENCE.replace('"sum": "a"', '"sum": "d"')) as session:
        report = graded(session, RIGHT)
    assert report.verdict is Verdict.INVALID
    assert "expected the reference's why to answer sum by one of a, b, c" in report.message


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("fell: {ask: Why?, answers: {a: One.}}", "at least 2 entries"),
        ("fell: {ask: Why?, answers: {ab: One., b: Two.}}", "ab"),
        ("fell: {answers: {a: One., b: Two.}}", "ask"),
        ("Fell: {ask: Why?, answers: {a: One., b: Two.}}", "Fell"),
    ],
)
def test_a_choice_that_is_none_is_refused(tmp_path: Path, written: str, said: str) -> None:
    start = REST.index("      fell:")
    with (
        pytest.raises(BankError, match=said),
        opened(tmp_path, REST[:start] + f"      {written}\n", REFERENCE),
    ):
        pass
