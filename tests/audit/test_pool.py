"""Questions that are audited at once give the reports of questions audited one after another."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from grader.audit import audit
from grader.audit.pool import Plan, audited
from grader.model.audit import AuditReport
from grader.model.question import Question
from tests.audit.audits import question

pytestmark = [
    pytest.mark.usefixtures("one_zygote"),
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere questions come one by one"),
]

HERE = os.getpid()


@pytest.fixture
def questions(tmp_path: Path) -> list[Question]:
    only = question(tmp_path)
    return [replace(only, id=name) for name in ("first", "second", "third", "fourth")]


def stand_in(fails: str = "") -> Callable[..., AuditReport]:
    """What an audit is replaced by: it says which question it was given, and where it ran."""

    def audit(
        asked: Question, *, seeds: Sequence[int], progress: Callable[[str], None]
    ) -> AuditReport:
        progress(f"{asked.id}: looking")
        if asked.id == fails and os.getpid() != HERE:
            os._exit(3)
        where = "here" if os.getpid() == HERE else "elsewhere"
        return AuditReport(asked.id, where, tuple(seeds), 0.0, (), (), ())

    return audit


def reports(questions: Sequence[Question], jobs: int) -> list[tuple[str, str]]:
    found = audited(questions, Plan(range(1), jobs=jobs), lambda _: None)
    return [(report.question, report.title) for report, _ in found]


def test_reports_come_in_the_order_asked_whoever_is_done_first(
    questions: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "audit", stand_in())
    assert reports(questions, 3) == [(question.id, "elsewhere") for question in questions]
    assert {where for _, where in reports(questions, 1)} == {"here"}
    assert reports(questions[:1], 8) == [("first", "here")]


def test_a_process_that_ends_without_a_report_has_its_question_done_again_here(
    questions: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "audit", stand_in(fails="second"))
    found = dict(reports(questions, 2))
    assert found["second"] == "here"
    assert list(found) == [q.id for q in questions]


def test_no_process_stays_when_nobody_listens_any_more(
    questions: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "audit", stand_in())
    found = audited(questions, Plan(range(1), jobs=2), lambda _: None)
    next(found)
    found.close()  # type: ignore[attr-defined]
    assert multiprocessing.active_children() == []
