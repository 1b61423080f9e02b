"""`drill bank audit` proves what it is asked to, goes on after a fault, and ends with 0 or 3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from grader.model.question import Question
from grader.reports.blocks import Paragraph
from tests.cli.conftest import Drill, without_torch

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


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "grader.reports.audit.audit_page", lambda report: [Paragraph(f"page of {report.question}")]
    )
    monkeypatch.setattr(
        "grader.reports.json.audit_to_json",
        lambda report, _: {"question": report.question, "seeds": report.seeds},
    )
    monkeypatch.setattr("grader.audit.audit.audit", audit)
    monkeypatch.setattr("grader.app.context.find_spec", without_torch)


def test_one_question(drill: Drill) -> None:
    ended = drill("bank", "audit", "double-trouble", "--seeds", "7", "--json")
    assert ended.status == 0
    assert ended.data["ok"] is True
    assert ended.data["questions"] == [{"question": "double-trouble", "seeds": 7}]
    assert "page of double-trouble" in drill("bank", "audit", "double-trouble").out


def test_all_questions_that_can_run_here(drill: Drill) -> None:
    ended = drill("bank", "audit", "--json")
    assert ended.status == 3
    assert [q["question"] for q in ended.data["questions"]] == ["double-trouble", "halve-well"]
    assert ended.data["skipped"] == ["needs-torch"]
    assert "needs-torch is not audited" in ended.err


def test_a_question_asked_for_by_name_has_to_run(drill: Drill) -> None:
    drill("bank", "audit", "needs-torch").refused("pip install")


def test_a_broken_question_does_not_hide_the_others(drill: Drill) -> None:
    ended = drill("bank", "audit", "broken-yaml", "double-trouble")
    assert ended.status == 3
    assert "expected a title" in ended.err
    assert "drill: second" in ended.err
    assert "page of double-trouble" in ended.out
    data = drill("bank", "audit", "broken-yaml", "double-trouble", "--json").data
    assert (data["ok"], len(data["problems"]), len(data["questions"])) == (False, 2, 1)


def test_several_questions_end_with_how_many_are_not_ready(drill: Drill) -> None:
    out = drill("bank", "audit").out
    assert out.endswith("\n\n1 of 2 not ready: halve-well\n")
    out = drill("bank", "audit", "broken-yaml", "double-trouble", "halve-well").out
    assert out.endswith("\n2 of 3 not ready: broken-yaml, halve-well\n")


def test_a_remark_fails_a_strict_audit_only(drill: Drill) -> None:
    assert drill("bank", "audit", "double-trouble", "--seeds", "2").status == 0
    ended = drill("bank", "audit", "double-trouble", "--seeds", "2", "--strict")
    assert ended.status == 3
    assert "because of --strict" in ended.err
    data = drill("bank", "audit", "double-trouble", "--seeds", "2", "--strict", "--json").data
    assert (data["format"], data["ok"], data["strict"]) == (2, False, True)
    assert drill("bank", "audit", "double-trouble", "--seeds", "1", "--strict").status == 0


def test_ctrl_c_ends_an_audit_with_130(drill: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> Audited:
        raise KeyboardInterrupt

    monkeypatch.setattr("grader.audit.audit.audit", interrupted)
    ended = drill("bank", "audit", "double-trouble")
    assert (ended.status, ended.out) == (130, "")
    assert "interrupted" in ended.err
