"""Questions that are audited at once give the reports of questions audited one after another."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from grader.audit import proof
from grader.audit.several import Plan, audited
from grader.model.audit import AuditReport
from grader.model.question import Question
from tests.audit.audits import question

pytestmark = pytest.mark.usefixtures("one_zygote")

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


def reports(
    questions: Sequence[Question], jobs: int, progress: Callable[[str], None] = lambda _: None
) -> list[tuple[str, str]]:
    with audited(questions, Plan(range(1)), jobs=jobs, progress=progress) as found:
        return [(r.question, r.title) for r in found if isinstance(r, AuditReport)]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere questions come one by one")
def test_reports_come_in_the_order_asked_whoever_is_done_first(
    questions: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "audit", stand_in())
    said: list[str] = []
    names = [q.id for q in questions]
    assert reports(questions, 3, said.append) == [(name, "elsewhere") for name in names]
    assert sorted(said) == sorted(f"{name}: looking" for name in names)


def test_one_job_runs_here(questions: list[Question], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "audit", stand_in())
    assert {where for _, where in reports(questions, 1)} == {"here"}
    assert reports(questions[:1], 8) == [("first", "here")]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere questions come one by one")
def test_a_process_that_ends_without_a_report_has_its_question_done_again_here(
    questions: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "audit", stand_in(fails="second"))
    found = dict(reports(questions, 2))
    assert found["second"] == "here"
    assert list(found) == [q.id for q in questions]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere questions come one by one")
def test_no_process_stays_when_the_listener_goes_away(
    questions: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    import multiprocessing

    monkeypatch.setattr(proof, "audit", stand_in())
    with audited(questions, Plan(range(1)), jobs=2, progress=lambda _: None) as found:
        next(found)
    assert multiprocessing.active_children() == []
