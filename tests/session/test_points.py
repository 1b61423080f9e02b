"""Points of checks: what a part that does not pass earns."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.bank import load
from grader.model.question import Question
from grader.model.report import CheckResult
from grader.model.verdict import Verdict
from grader.reports.json import to_json
from grader.session import GradingSession
from grader.session.order import credited, part_results
from tests.bank.test_parts import BANK, SPEC
from tests.pages import page_of

pytestmark = pytest.mark.usefixtures("one_zygote")
POINTS = {"mean": None, "nothing": 10, "alone": 20, "spread": 15, "far": 5}


def shared(folder: Path) -> Question:
    """The question whose second and third part share their points among their checks."""
    spec = yaml.safe_load(SPEC)
    for part in spec["parts"]:
        for check in part["checks"]:
            if POINTS[check["id"]]:
                check["points"] = POINTS[check["id"]]
    (folder / "shared.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    return load([folder / "shared.yaml"], "shared")


def test_what_passes_of_a_part_that_does_not_is_worth_its_points(tmp_path: Path) -> None:
    question = shared(tmp_path)
    # Right of few and many; of far the variance is lost in rounding, as the question wants it.
    cancels = """
import numpy as np

def mean(x):
    return float(x.mean()) if x.size else 0.0

def spread(x):
    return float(np.sqrt(max(0.0, np.mean(x * x) - x.mean() ** 2)))
"""
    with GradingSession(question) as session:
        whole = session.grade(question.reference, seed=1)
        partly = session.grade(cancels.encode(), seed=1)
        starter = session.grade(question.starter, seed=1)
    assert [(p.points, p.of) for p in whole.parts] == [(50, 50), (30, 30), (20, 20)]
    assert [(c.points, c.of) for c in whole.checks] == [
        (0, 0),
        (10, 10),
        (20, 20),
        (15, 15),
        (5, 5),
    ]
    assert partly.verdict is Verdict.FAIL
    assert [(p.points, p.of) for p in partly.parts] == [(50, 50), (30, 30), (15, 20)]
    assert [c.points for c in partly.checks if c.part == 3] == [15, 0]
    page = page_of(partly, width=80)
    assert "Earned: 95 of 100 points." in page
    # What is skipped earns nothing, though skipping turns nobody down.
    assert [(p.points, p.of) for p in starter.parts] == [(0, 50), (0, 30), (0, 20)]
    plain = to_json(partly)["checks"]
    assert isinstance(plain, list)
    assert (plain[3]["points"], plain[4]["points"], plain[4]["of"]) == (15, 0, 5)


def test_a_question_without_points_of_checks_has_whole_parts_and_the_page_that_it_had() -> None:
    question = load([BANK], "mean-and-spread")
    with GradingSession(question) as session:
        report = session.grade(question.starter, seed=1)
    assert {(c.points, c.of) for c in report.checks} == {(0, 0)}
    assert "Earned" not in page_of(report, width=80)


VERDICTS = st.sampled_from(["pass", "fail", "error", "limit", "skipped", "inconclusive"])


@settings(deadline=None)
@given(st.lists(VERDICTS, min_size=5, max_size=5), st.sets(st.integers(1, 3), min_size=1))
def test_points_of_checks_add_up(
    tmp_path_factory: pytest.TempPathFactory, verdicts: list[str], parts: Collection[int]
) -> None:
    spec = _shared_once(tmp_path_factory).spec
    checks = [
        CheckResult(c.id, c.kind, Verdict(v), "", part=spec.part_of(c.id))
        for c, v in zip(spec.checks, verdicts, strict=True)
    ]
    found = part_results(spec, checks, parts)
    with_points = credited(spec, checks, parts)
    for number in (2, 3):
        own = [check for check in with_points if check.part == number]
        assert sum(check.points for check in own) == found[number - 1].points
        assert sum(check.of for check in own) == found[number - 1].of
        if found[number - 1].verdict is not Verdict.PASS:
            assert not any(c.points for c in own if c.verdict is Verdict.SKIPPED)
    assert found[0].points in {0, found[0].of}


_ONCE: list[Question] = []


def _shared_once(factory: pytest.TempPathFactory) -> Question:
    if not _ONCE:
        _ONCE.append(shared(factory.mktemp("shared")))
    return _ONCE[0]
