"""What ideas compute is held against the reference once on a seed, for any number of answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader import bank
from grader.evaluation.evaluation import Evaluation
from grader.explain import naming
from grader.explain.components import Component, same_on
from grader.session import GradingSession

pytestmark = pytest.mark.usefixtures("one_zygote")

MINI = Path(__file__).parents[1] / "banks" / "mini"


def test_where_an_idea_acts_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def counted(a: Evaluation, b: Evaluation, component: Component, case: str) -> bool:
        compared.append(a.submission.name)
        return same_on(a, b, component, case)

    monkeypatch.setattr(naming, "same_on", counted)
    question = bank.load([MINI], "deviations")
    found: list[Any] = []
    with GradingSession(question, proved=True) as session:
        for seed in (5, 5, 6):
            found.append(session.grade(question.starter, seed=seed).misconceptions)
            found.append(compared.count("reference"))
            compared.clear()
    named, first, again, none, other, fresh = found
    assert named == again == other != ()
    assert first >= fresh > 0  # what follows from further inputs holds for every seed
    assert none == 0
