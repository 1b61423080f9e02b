"""The expected value of an estimate is never shown, nor a value that follows from it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from grader.bank import load_question
from grader.explain.session import GradingSession
from grader.model.report import Report
from grader.reports.json import dumps
from tests.pages import page_of

pytestmark = pytest.mark.usefixtures("one_zygote")

SPEC = """
format: 3
title: How much memory
track: basics
level: warm-up
minutes: 5
uses: [numpy]
prompt: Say what a model takes, and whether it fits.
interface: |
  def held(n):
      return {"weights": 0, "gradients": 0}
  def total(n):
      return 0
  def fits(n, card):
      return False
  def twice(n):
      return 0
checks:
  - {id: parts, kind: numbers, run: parts, of: found, parts: [weights, gradients]}
  - {id: sum, kind: outputs, run: sum, of: t, needs: parts}
  - {id: fits, kind: outputs, run: fits, of: ok, needs: sum}
  - {id: twice, kind: outputs, run: twice, of: d}
run:
  parts: [found = held(n)]
  sum: [t = total(n)]
  fits: ["ok = fits(n, card)"]
  twice: [d = twice(n)]
cases:
  small: {n: 1213, card: 5000}
  large: {n: 7121, card: 5000}
code:
  starter: "def held(n): return {}"
  reference: |
    def held(n):
        return {"weights": 4 * n, "gradients": 2 * n}
    def total(n):
        return 6 * n
    def fits(n, card):
        return total(n) <= card
    def twice(n):
        return 2 * n
"""
EXPECTED = ("7278", "42726", "7,278", "42,726", "4852", "4,852", "28484", "28,484")
WRONG = {
    "parts": 'def held(n): return {"weights": 7 * n, "gradients": 2 * n}',
    "sum": "def total(n): return 9 * n",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GradingSession]:
    path = tmp_path_factory.mktemp("bank") / "memory.yaml"
    path.write_text(SPEC)
    with GradingSession(load_question([path], "memory")) as opened:
        yield opened


def graded(session: GradingSession, more: str) -> Report:
    return session.grade(session.question.reference + f"\n{more}\n".encode(), seed=1)


def every_view(report: Report) -> Iterator[str]:
    """Return the report as each renderer shows it."""
    for aloud in (False, True):
        for full in (False, True):
            yield page_of(report, aloud=aloud, full=full, explain=full)
    yield dumps(report)


@pytest.mark.parametrize("wrong", WRONG)
def test_no_expected_figure_is_shown(session: GradingSession, wrong: str) -> None:
    report = graded(session, WRONG[wrong])
    failing = next(check for check in report.checks if check.verdict == "fail")
    assert failing.id == wrong
    assert failing.mismatch is not None
    assert failing.mismatch.expected  # it was there to be shown
    for view in every_view(report):
        assert not [figure for figure in EXPECTED if figure in view], view
    page = page_of(report)
    assert {"parts": "8,491", "sum": "total(1213) returned"}[wrong] in page


def test_a_wrong_word_does_not_reveal_the_right_one(session: GradingSession) -> None:
    report = graded(session, "def fits(n, card): return True")
    page = page_of(report)
    assert "fits(1213, 5000) returned True, which is wrong" in " ".join(page.split())
    assert all("False" not in render for render in every_view(report) if render[0] != "{")
    check = next(c for c in json.loads(dumps(report))["checks"] if c["id"] == "fits")
    assert check["mismatch"]["expected"] == ""
    assert not json.loads(dumps(report))["explanations"]


def test_a_result_of_the_wrong_type_is_told_the_right_type(session: GradingSession) -> None:
    report = graded(session, "def total(n): return [6 * n]")
    page = page_of(report)
    assert "total(1213) returned a list of 1, expected a number" in " ".join(page.split())
    assert not [f for view in every_view(report) for f in EXPECTED if f in view]
