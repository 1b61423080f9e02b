"""`drill bank audit` proves what it is asked to, goes on after a fault, and ends with 0 or 3."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

import pytest

import grader.judge
from grader.model.question import Question
from tests.cli.conftest import Drill


@dataclass(frozen=True, slots=True)
class Audited:
    """What the command line needs of an audit's report."""

    question: str
    ok: bool
    seeds: int


def audit(
    question: Question, *, seeds: Sequence[int], progress: Callable[[str], None] | None = None
) -> Audited:
    """Find fault with one of the questions."""
    assert progress is not None
    progress("reference")
    return Audited(question.id, question.id != "halve-well", len(seeds))


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = ModuleType("grader.reports.audit")
    reports.render_audit = lambda report, width: f"{report.question} in {width} columns"  # type: ignore[attr-defined]
    reports.to_json = lambda report: {"question": report.question, "seeds": report.seeds}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "grader.reports.audit", reports)
    monkeypatch.setattr(grader.judge, "audit", audit, raising=False)
    monkeypatch.setattr("grader.cli.grading.torch_installed", lambda: False)


def test_one_question(drill: Drill) -> None:
    ended = drill("bank", "audit", "double-trouble", "--seeds", "7", "--json")
    assert ended.status == 0
    assert ended.data["ok"] is True
    assert ended.data["questions"] == [{"question": "double-trouble", "seeds": 7}]
    assert "double-trouble in 80 columns" in drill("bank", "audit", "double-trouble").out


def test_a_faulty_question_ends_with_3(drill: Drill) -> None:
    assert drill("bank", "audit", "halve-well").status == 3


def test_all_questions_that_can_run_here(drill: Drill) -> None:
    ended = drill("bank", "audit", "--json")
    assert ended.status == 3
    assert [q["question"] for q in ended.data["questions"]] == ["double-trouble", "halve-well"]
    assert ended.data["skipped"] == ["needs-torch"]
    assert "needs-torch is not audited" in ended.err


def test_a_question_asked_for_by_name_has_to_run(drill: Drill) -> None:
    ended = drill("bank", "audit", "needs-torch")
    assert ended.status == 2
    assert "pip install" in ended.err


def test_a_broken_question_does_not_hide_the_others(drill: Drill) -> None:
    ended = drill("bank", "audit", "broken-yaml", "double-trouble")
    assert ended.status == 3
    assert "expected a title" in ended.err
    assert "drill: second" in ended.err
    assert "double-trouble in 80 columns" in ended.out
    data = drill("bank", "audit", "broken-yaml", "double-trouble", "--json").data
    assert (data["ok"], len(data["problems"]), len(data["questions"])) == (False, 2, 1)


def test_an_unknown_question_is_a_usage_error(drill: Drill) -> None:
    assert drill("bank", "audit", "double-troubel").status == 2
