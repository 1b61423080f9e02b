"""A grade ends at its deadline, and the report blames the slow program."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from grader.explain.session import GradingSession
from grader.grading.kinds.base import Kind
from grader.model.question import Question
from grader.model.report import CheckResult, Report, Verdict
from grader.sandbox.client import WorkerClient
from tests.asking import asked
from tests.audit.audits import question as small
from tests.pages import page_of

pytestmark = pytest.mark.usefixtures("one_zygote")

STEP = 50.0  # seconds that a call takes by the clock of these tests


@contextlib.contextmanager
def slowed(question: Question, slow: Callable[[str], bool]) -> Iterator[GradingSession]:
    """Grade with a clock that moves only while a slow program runs."""
    now = [0.0]
    exchange = WorkerClient.exchange

    def slowly(*sent: Any, **limits: Any) -> Any:
        request = sent[1]
        program = request.get("program") or request.get("programs", ("",))[0]  # of several, one
        if request["op"] != "load" and slow(str(program)):
            now[0] += STEP
        return exchange(*sent, **limits)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorkerClient, "exchange", slowly)
        with GradingSession(question, clock=lambda: now[0]) as session:
            yield session


def graded(question: Question, source: bytes, slow: Callable[[str], bool]) -> Report:
    """Return the report of a grade with such a clock."""
    with slowed(question, slow) as session:
        return session.grade(source, seed=1)


def test_a_slow_submission_ends_at_the_deadline() -> None:
    question = asked("maxpool-routing")
    report = graded(question, question.reference, lambda name: name == "submission")
    assert report.verdict is Verdict.LIMIT
    first, *others = [c for c in report.checks if c.verdict is not Verdict.PASS]
    assert first.verdict is Verdict.LIMIT
    assert first.message == (
        "your code was still running at the deadline: a whole grade may take 120 seconds"
    )
    assert {c.verdict for c in others} == {Verdict.SKIPPED}
    assert "the deadline left no time to look for the idea behind it" in " ".join(
        page_of(report, 100).split()
    )


@pytest.mark.parametrize("blamed", [True, False])
def test_findings_before_the_deadline_are_still_reported(blamed: bool) -> None:
    question = asked("maxpool-routing")
    slow = (lambda name: name != "reference") if blamed else (lambda name: "/" in name)
    report = graded(question, question.starter, slow)
    assert blamed or Verdict.LIMIT not in {c.verdict for c in report.checks}
    assert Verdict.FAIL in {c.verdict for c in report.checks}
    assert report.verdict is Verdict.FAIL
    assert report.note == "the deadline left no time to look for the idea behind it"
    assert report.misconceptions == ()


@pytest.mark.parametrize(("wrong", "verdict"), [(True, Verdict.FAIL), (False, Verdict.INVALID)])
def test_a_required_check_that_failed_decides_even_if_the_reference_is_slow(
    wrong: bool, verdict: Verdict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = {"id": "gate", "kind": "outputs", "of": "y", "cases": "many"}
    manners = {"id": "manners", "kind": "side-effects", "of": "y", "layouts": ["reversed"]}
    question = small(tmp_path, checks=[gate, manners])
    now = [0.0]
    carry_out = Kind.run_check

    def then_slow(*what: Any) -> CheckResult:
        result = carry_out(*what)
        now[0] += 1000
        return result

    monkeypatch.setattr(Kind, "run_check", then_slow)
    with GradingSession(question, clock=lambda: now[0]) as session:
        report = session.grade(question.starter if wrong else question.reference, seed=1)
    assert report.verdict is verdict
    if report.checks:
        failed, late = report.checks
        assert (failed.verdict, late.verdict) == (Verdict.FAIL, Verdict.LIMIT)
        assert late.message == "the deadline came first: a whole grade may take 120 seconds"


def test_a_slow_reference_is_blamed_on_the_bank_and_does_not_affect_the_next_grade() -> None:
    question, slow = asked("maxpool-routing"), ["reference"]
    with slowed(question, lambda name: name in slow) as session:
        report = session.grade(question.starter, seed=1)
        assert report.verdict is Verdict.INVALID
        assert "the submission took 0 of them" in report.message
        assert "the reference and the checks are too slow" in report.message
        slow.clear()
        again = session.grade(question.starter, seed=1)
    assert [m.id for m in again.misconceptions] == ["stride-is-kernel"]


def test_a_file_that_sleeps_while_it_is_loaded_is_ended_by_the_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("grader.grading.session.GRADE_SECONDS", 0.2)
    question = asked("adam-7b-memory")
    with GradingSession(question) as session:
        report = session.grade(b"import time\ntime.sleep(3600)\n", seed=1)
    assert report.verdict is Verdict.LIMIT
    assert report.message.startswith("your code was still running at the deadline")
    assert report.message.endswith(": a whole grade may take 0.2 seconds")


RAISES = """
    import numpy as np

    def relu(x):
        if x.shape == (1, 1):
            raise ValueError("too small")
        return np.where(x > 0, x, 0).astype(x.dtype)
"""
DIES = RAISES.replace('raise ValueError("too small")', "import os; os.abort()")


@pytest.mark.parametrize("reference", [RAISES, DIES])
@pytest.mark.parametrize("submission", [RAISES, DIES])
def test_a_case_on_which_the_reference_fails_too_is_blamed_on_the_bank(
    reference: str, submission: str, tmp_path: Path
) -> None:
    question = small(
        tmp_path,
        reference=reference,
        cases={"tiny": {"x": [[1.0]]}, "many": {"x": {"normal": [4, 5]}}},
    )

    with GradingSession(question) as session:
        report = session.grade(dedent(submission).encode(), seed=1)
        assert report.verdict is Verdict.INVALID
        assert "the reference fails on case tiny" in report.message
        assert report == replace(
            session.grade(dedent(submission).encode(), seed=1), seconds=report.seconds
        )
