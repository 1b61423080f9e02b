"""Ideas that no case tells apart are found, and a case that would is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from grader.audit.matrix import pairs
from grader.audit.subjects import Seen, Subject
from grader.model.audit import AuditReport
from tests.audit.audits import audited

pytestmark = pytest.mark.usefixtures("one_zygote")

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


def test_a_case_is_found_that_tells_two_ideas_apart(tmp_path: Path) -> None:
    report = sums(tmp_path, IDEAS)
    assert report.problems == (
        "all and one-more compute the same on every case: nobody can know which they hold",
    )
    (twins,) = report.twins
    assert (twins.ids, twins.run) == (("all", "one-more"), "main")
    case = yaml.safe_load("\n".join(twins.case))
    ((_, (n,)),) = [(g, s) for g, s in case["x"].items() if isinstance(s, list)]
    assert n > case["k"] + 1  # more entries than either idea needs to differ


def test_the_same_idea_written_twice_has_no_such_case(tmp_path: Path) -> None:
    report = sums(tmp_path, {"all": IDEAS["all"], "every": IDEAS["all"]})
    (twins,) = report.twins
    assert twins.case == ()
    assert twins.tried > 10


def test_ideas_that_are_told_apart_are_no_twins(tmp_path: Path) -> None:
    assert audited(tmp_path).twins == ()


def test_twins_go_by_each_others_names_on_every_seed() -> None:
    def named(misconception: str | None, *seeds: tuple[str, ...]) -> Subject:
        seen = [Seen(0, {}, {}, frozenset(names), None) for names in seeds]
        return Subject("any", [], "", misconception=misconception, seen=seen)

    both = ("a", "b")
    assert pairs([named("a", both, both), named("b", both, ("b",))]) == [("a", "b")]
    assert pairs([named("a", both, ("a",)), named(None, both), named("c", ())]) == []
    assert pairs([named("a", ("b",), ("b",))]) == []  # misnamed, which is another fault
