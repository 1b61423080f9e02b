"""`drill bank audit` proves what it is asked to, goes on after a fault, and ends with 0 or 3."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from grader.cli.output import waiting
from grader.model.question import Question
from grader.reports.page import Page
from grader.reports.text import Text
from tests.cli.conftest import Drill
from tests.cli.lacking import without_torch

pytestmark = pytest.mark.usefixtures("one_zygote")


@dataclass(frozen=True, slots=True)
class Audited:
    """What the command line needs of an audit's report."""

    question: str
    ok: bool
    seeds: int
    remarks: tuple[str, ...] = ()


def audit(
    question: Question, *, seeds: Sequence[int], progress: Callable[[str], None] | None = None
) -> Audited:
    """Find fault with one of the questions."""
    assert progress is not None
    progress("reference")
    remarks = ("could be better",) if len(seeds) == 2 else ()
    return Audited(question.id, question.id != "halve-well", len(seeds), remarks)


def _page(report: Any, width: int) -> Page:
    return Page([Text(f"{report.question} in {width} columns")])


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = ModuleType("grader.reports.audit")
    reports.render_audit = _page  # type: ignore[attr-defined]
    plain = ModuleType("grader.reports.json")
    plain.audit_to_json = lambda report, _: {"question": report.question, "seeds": report.seeds}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "grader.reports.audit", reports)
    monkeypatch.setitem(sys.modules, "grader.reports.json", plain)
    monkeypatch.setattr("grader.audit.proof.audit", audit)
    monkeypatch.setattr("grader.app.requirements.find_spec", without_torch)


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


def test_several_questions_end_with_how_many_are_not_ready(drill: Drill) -> None:
    out = drill("bank", "audit").out
    assert out.endswith("\n\n1 of 2 not ready: halve-well\n")
    out = drill("bank", "audit", "broken-yaml", "double-trouble", "halve-well").out
    assert out.endswith("\n2 of 3 not ready: broken-yaml, halve-well\n")


def test_one_question_needs_no_total(drill: Drill) -> None:
    assert "ready" not in drill("bank", "audit", "halve-well").out


def test_a_remark_counts_in_the_total_of_a_strict_audit(drill: Drill) -> None:
    out = drill("bank", "audit", "double-trouble", "halve-well", "--seeds", "2", "--strict").out
    assert out.endswith("\n2 of 2 not ready: double-trouble, halve-well\n")


def test_an_unknown_question_is_a_usage_error(drill: Drill) -> None:
    assert drill("bank", "audit", "double-troubel").status == 2


def test_a_remark_fails_a_strict_audit_only(drill: Drill) -> None:
    assert drill("bank", "audit", "double-trouble", "--seeds", "2").status == 0
    ended = drill("bank", "audit", "double-trouble", "--seeds", "2", "--strict")
    assert ended.status == 3
    assert "because of --strict" in ended.err
    data = drill("bank", "audit", "double-trouble", "--seeds", "2", "--strict", "--json").data
    assert (data["format"], data["ok"], data["strict"]) == (2, False, True)
    assert drill("bank", "audit", "double-trouble", "--seeds", "1", "--strict").status == 0


def test_nothing_is_said_about_progress_where_nobody_waits(drill: Drill) -> None:
    assert drill("bank", "audit", "double-trouble").err == ""


def test_ctrl_c_ends_an_audit_with_130(drill: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> Audited:
        raise KeyboardInterrupt

    monkeypatch.setattr("grader.audit.proof.audit", interrupted)
    ended = drill("bank", "audit", "double-trouble")
    assert (ended.status, ended.out) == (130, "")
    assert "interrupted" in ended.err


class Terminal(io.StringIO):
    """Paper that is taken for a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("term", "stays"), [("xterm", False), ("dumb", True)])
def test_a_person_sees_where_it_is(monkeypatch: pytest.MonkeyPatch, term: str, stays: bool) -> None:
    paper = Terminal()
    monkeypatch.setattr(sys, "stderr", paper)
    monkeypatch.setenv("TERM", term)
    with waiting() as tell:
        tell("a question: seed 1 of 3, the [reference]")
    assert ("\x1b[K" in paper.getvalue()) is not stays  # the line is taken back
    assert "the [reference]" in paper.getvalue()


def test_the_line_is_taken_back_after_a_fault_too(monkeypatch: pytest.MonkeyPatch) -> None:
    paper = Terminal()
    monkeypatch.setattr(sys, "stderr", paper)
    monkeypatch.setenv("TERM", "xterm")

    def wait() -> None:
        with waiting() as tell:
            tell("a question")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wait()
    assert paper.getvalue().endswith("a question\r\x1b[K")
