"""The kinds of checks that judge written answers: `choices` and `causes`."""

# ruff: noqa: E501 a sentence that is compared stands on one line

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.bank import load_question
from grader.explain.session import GradingSession
from grader.model.errors import BankError
from grader.model.report import Report, Verdict
from tests.grading.kinds.one_file import graded, of, opened, written
from tests.pages import page_of

CHOICES = """
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
CHOSEN = """
WHY = {"fell": "b", "sum": "a"}

def f(x):
    return 2 * x
"""
RIGHT = "def f(x): return 2 * x\n"
CAUSES = """
run: {main: ["y = f(x)"], named: ["found = causes()"]}
cases:
  one: {x: 1.5}
  two: {x: 2.5}
checks:
  - {id: y, kind: outputs, of: y, points: 40}
  - id: named
    kind: causes
    run: named
    of: found
    cases: one
    points: 60
    exactly: [labels, rate, pieces]
    allowed: [order]
    innocent: {init: with smaller weights it rises all the same., width: a wider one rises too}
form: diagnose
causes: {init: a, labels: b, order: c, pieces: d, rate: e, width: f}
"""
PICKED = RIGHT + "\ndef causes():\n    return ['labels', 'rate', 'pieces']\n"


@pytest.fixture(scope="module")
def choosing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GradingSession]:
    with opened(tmp_path_factory.mktemp("bank"), CHOICES, CHOSEN) as session:
        yield session


@contextmanager
def asking(folder: Path, spec: str = CAUSES) -> Iterator[GradingSession]:
    path = written(folder, spec, PICKED)
    path.write_text(path.read_text().replace("starter_holds: []", "hints: []"))
    with GradingSession(load_question([path], "one")) as session:
        yield session


@pytest.fixture(scope="module")
def picking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GradingSession]:
    with asking(tmp_path_factory.mktemp("bank")) as session:
        yield session


def picked(session: GradingSession, causes: str, factor: int = 2) -> Report:
    return graded(session, f"def f(x): return {factor} * x\n\ndef causes():\n    return {causes}\n")


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ('{"fell": "b", "sum": "a"}', "2 of 2 right"),
        ('{"sum": " A", "fell": "B\\n"}', "2 of 2 right"),
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
def test_wrong_choices_are_counted_without_saying_which(
    choosing: GradingSession, answers: str, message: str
) -> None:
    report = graded(choosing, f"WHY = {answers}\n{RIGHT}")
    result = of(report, "why")
    verdict = Verdict.PASS if message == "2 of 2 right" else Verdict.FAIL
    assert (result.verdict, result.message) == (verdict, message)
    assert not report.misconceptions
    assert not result.failing, "a case has nothing to do with it"


def test_a_reference_with_an_impossible_choice_is_at_fault(tmp_path: Path) -> None:
    with opened(tmp_path, CHOICES, CHOSEN.replace('"sum": "a"', '"sum": "d"')) as session:
        report = graded(session, RIGHT)
    assert report.verdict is Verdict.INVALID
    assert "expected the reference's why to answer sum by one of a, b, c" in report.message


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("fell: {ask: Why?, answers: {a: One.}}", "at least 2 entries"),
        ("fell: {ask: Why?, answers: {ab: One., b: Two.}}", "ab"),
        ("fell: {answers: {a: One., b: Two.}}", "ask"),
        ("Fell: {ask: Why?, answers: {a: One., b: Two.}}", "Fell"),
    ],
)
def test_an_impossible_choice_is_refused(tmp_path: Path, choice: str, message: str) -> None:
    spec = CHOICES[: CHOICES.index("      fell:")] + f"      {choice}\n"
    with pytest.raises(BankError, match=message), opened(tmp_path, spec, CHOSEN):
        pass


@pytest.mark.parametrize(
    ("causes", "message", "points"),
    [
        ("['labels', 'rate', 'pieces']", "3 of 3 causes", 60),
        ("('pieces', 'rate', 'labels', 'rate')", "3 of 3 causes", 60),
        ("[' labels', 'rate', 'pieces', 'order']", "3 of 3 causes", 60),
        ("[]", "0 of 3 causes", 0),
        ("['rate', 'labels']", "2 of 3 causes", 40),
        ("['rate', 'labels', 'init']", "2 of 3 causes, 1 too many; init is innocent: with smaller weights it rises all the same", 20),
        ("['width', 'rate', 'labels', 'pieces']", "3 of 3 causes, 1 too many; width is innocent: a wider one rises too", 40),
        ("['init']", "0 of 3 causes, 1 too many; init is innocent: with smaller weights", 0),
        ("['rates', 'labels']", "'rates' is not among the causes; did you mean 'rate'?", 0),
        ("['labels', 3]", "found is a list of 2, expected a list of ids", 0),
        ("'labels'", "found is", 0),
        ("dict().get(0)", "found is None, expected a list of ids", 0),
    ],
)  # fmt: skip
def test_missed_causes_are_counted_and_innocent_ones_are_cleared(
    picking: GradingSession, causes: str, message: str, points: int
) -> None:
    result = of(picked(picking, causes), "named")
    assert result.verdict is (Verdict.PASS if points == 60 else Verdict.FAIL)
    assert result.message.startswith(message)
    assert result.points == points
    assert not result.failing, "a case has nothing to do with it"
    if "not among" not in message:
        named = causes.replace("'", " ").replace(",", " ").split()
        assert all(name in named for name in ("labels", "rate", "pieces") if name in result.message)


def test_picking_all_causes_does_not_reveal_the_answer(tmp_path: Path) -> None:
    innocent = "width: a wider one rises too}"
    spec = CAUSES.replace(innocent, "width: a wider one, order: it is drawn}")
    with asking(tmp_path, spec.replace("    allowed: [order]\n", "")) as session:
        all_causes = "['init', 'labels', 'order', 'pieces', 'rate', 'width']"
        result = of(picked(session, all_causes), "named")
        assert (result.message, result.points) == ("3 of 3 causes, 3 too many", 0)


def test_the_count_is_on_the_page_whatever_else_is_wrong(picking: GradingSession) -> None:
    page = page_of(picked(picking, "['rate']", 3), width=80)
    assert "named: 1 of 3 causes." in page
    assert "Also fails" not in page


@pytest.mark.parametrize(
    ("was", "becomes", "message"),
    [
        ("form: diagnose\n", "", "causes: expected form: diagnose, found none"),
        ("exactly: [labels, rate,", "exactly: [label, rate,", "causes: expected label, which named"),
        ("width: f}", "width: f, depth: g}", "causes.depth: expected it in exactly, allowed or"),
        ("allowed: [order]", "allowed: [order, rate]", "expected rate once in exactly, allowed"),
        ("width: f}", "width: f}\nlog: a", "log: expected experiments, which say how to make it"),
        ("width: f}", "width: f}\nexperiments: {function: driver.a.b, budget: 3}", "experiments.function"),
    ],
)  # fmt: skip
def test_a_fault_of_causes_has_a_sentence(
    was: str, becomes: str, message: str, tmp_path: Path
) -> None:
    assert was in CAUSES
    with pytest.raises(BankError) as refused, asking(tmp_path, CAUSES.replace(was, becomes)):
        pass
    texts = [str(refused.value), *map(str, getattr(refused.value, "problems", ()))]
    assert any(message in text for text in texts), texts
