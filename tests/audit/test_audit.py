"""The audit proves a good question, and finds each fault that was put into a bad one."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.audit.audit import as_graded, audit
from grader.audit.matrix import pairs
from grader.audit.subjects import Seen, Subject
from grader.bank import load
from grader.model.audit import AuditReport, Cell
from grader.model.report import CheckResult, Verdict
from tests.asking import with_checks
from tests.audit.audits import audited, said

pytestmark = pytest.mark.usefixtures("one_zygote")

MINI = Path(__file__).parents[1] / "banks" / "mini"


@pytest.fixture(scope="module")
def deviations() -> AuditReport:
    """Give the audit of a question with most kinds of checks."""
    return audit(load([MINI], "deviations"), seeds=(3, 4))


def test_a_question_passes_with_every_variant_stopped_and_named(tmp_path: Path) -> None:
    report = audited(tmp_path, seeds=(1, 2))
    assert report.problems == ()
    assert [row.name for row in report.programs] == ["reference", "starter", "open"]
    assert report.programs[2].claimed_by == ("gate",)
    assert report.programs[2].cells == {"gate": Cell.KILLS}
    assert (report.programs[2].named_well, report.checks[0].stops, report.checks[0].first) == (
        2,
        2,
        2,
    )


def test_checks_that_stop_nothing_are_faults(deviations: AuditReport) -> None:
    assert [p for p in deviations.problems if "kills no variant" in p] == [
        f"the check {check} kills no variant: it is idle, or a misconception is missing"
        for check in ("total", "manners", "kept")
    ]


def test_a_check_that_is_never_the_first_to_stop_anything_is_remarked_on(tmp_path: Path) -> None:
    second = {"id": "second", "kind": "outputs", "of": "y", "cases": "many", "needs": "gate"}
    report = audited(tmp_path, checks=[{"id": "gate", "kind": "outputs", "of": "y"}, second])
    assert report.ok
    assert said(report, "redundant")[0].startswith(
        "second: no known wrong idea is stopped here first"
    )


def test_a_check_that_no_idea_can_be_named_by_need_stop_none(tmp_path: Path) -> None:
    room = {"id": "room", "kind": "peak", "of": "y", "at_most": "64 * x.nbytes + 4096"}
    report = audited(tmp_path, checks=[{"id": "gate", "kind": "outputs", "of": "y"}, room])
    assert report.problems == ()
    assert said(report, "redundant") == []


def test_a_check_that_a_misconception_claims_earns_its_place(tmp_path: Path) -> None:
    second = {"id": "second", "kind": "outputs", "of": "y", "cases": "many"}
    report = audited(
        tmp_path,
        checks=[{"id": "gate", "kind": "outputs", "of": "y"}, second],
        misconceptions={"open": {"killed_by": ["gate", "second"], "feedback": "Open."}},
    )
    assert said(report, "redundant") == []


def test_a_verdict_that_depends_on_the_seed_is_marked(tmp_path: Path) -> None:
    report = audited(
        tmp_path,
        seeds=range(12),
        variants={"open": "def relu(x):\n    return x if x.size == 1 else x.copy()\n"},
        cases={"signs": {"x": [[-1.0, 2.0]]}, "one": {"x": {"normal": [1, 1]}}},
        checks=[
            {"id": "gate", "kind": "outputs", "of": "y", "cases": "signs"},
            {"id": "late", "kind": "outputs", "of": "y", "cases": "one"},
        ],
    )
    row = report.programs[2]
    assert row.cells["late"] is Cell.VARIES
    assert 0 < len(row.passing_seeds["late"]) < 12


@pytest.mark.parametrize(
    ("verdict", "then"),
    [
        (Verdict.PASS, Verdict.PASS),
        (Verdict.INCONCLUSIVE, Verdict.PASS),
        (Verdict.FAIL, Verdict.SKIPPED),
        (Verdict.SKIPPED, Verdict.SKIPPED),
    ],
)
def test_what_is_too_close_to_call_blocks_no_check(verdict: Verdict, then: Verdict) -> None:
    question = load([MINI], "deviations")
    by_id = {check.id: check for check in question.spec.checks}
    checks = [
        by_id["speed"].model_copy(update={"needs": []}),
        by_id["forward"].model_copy(update={"needs": ["speed"]}),
    ]
    results = {
        "speed": CheckResult("speed", "performance", verdict, ""),
        "forward": CheckResult("forward", "outputs", Verdict.PASS, ""),
    }
    graded, _ = as_graded(with_checks(question, checks), results)
    assert [result.verdict for result in graded.values()] == [verdict, then]


# Ideas that no case tells apart.

SUMS = """
    import numpy as np

    def total(x, k):
        return x[:k].sum()
"""
IDEAS = {
    "all": "def total(x, k):\n    return x.sum()\n",
    "one-more": "def total(x, k):\n    return x[:k + 1].sum()\n",
}


def sums(folder: Path, ideas: dict[str, str]) -> AuditReport:
    return audited(
        folder,
        reference=SUMS,
        variants=ideas,
        interface="def total(x, k):  # x (N,) float64 -> a float",
        run=["s = total(x, k)"],
        # One entry more than k is the same as all entries, on both cases.
        cases={"two": {"x": [1.0, 2.0], "k": 1}, "some": {"x": {"normal": [4]}, "k": 3}},
        checks=[{"id": "gate", "kind": "outputs", "of": "s"}],
        misconceptions={n: {"killed_by": "gate", "feedback": "Wrong."} for n in ideas},
        starter_holds=[],
    )


def test_ideas_that_no_case_tells_apart_are_a_fault(tmp_path: Path) -> None:
    assert sums(tmp_path, IDEAS).problems == (
        "all and one-more cannot be told apart on any case: add one on which they differ, or make "
        "them variants of one misconception",
    )


def test_twins_go_by_each_others_names_on_every_seed() -> None:
    def named(misconception: str | None, *seeds: tuple[str, ...]) -> Subject:
        seen = [Seen(0, {}, {}, frozenset(names), None) for names in seeds]
        return Subject("any", [], "", misconception=misconception, seen=seen)

    both = ("a", "b")
    assert pairs([named("a", both, both), named("b", both, ("b",))]) == [("a", "b")]
    assert pairs([named("a", both, ("a",)), named(None, both), named("c", ())]) == []
    assert pairs([named("a", ("b",), ("b",))]) == []  # misnamed, which is another fault
