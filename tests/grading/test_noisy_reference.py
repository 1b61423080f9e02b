"""The bank is blamed if its reference or its driver depends on chance."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from grader.audit.audit import audit_question
from grader.explain.session import GradingSession, grade
from grader.grading import session
from grader.model.report import Verdict
from tests.audit.audits import REFERENCE, question

pytestmark = pytest.mark.usefixtures("one_zygote")

NOISY = """
    import numpy as np

    def relu(x):
        return np.where(x > 0, x, 0) + np.random.normal(0, 1e-3, x.shape)
"""
COUNTS = """
    import numpy as np

    calls = []

    def relu(x):
        calls.append(1)
        return np.where(x > 0, x, 0) * (1 + 1e-3 * (len(calls) > 3))
"""
DRIVER = """
    import numpy as np

    def noisy(program, x):
        return program.relu(x) + np.random.normal(0, 1e-3, x.shape)
"""
RIGHT = dedent(REFERENCE).encode()
SAID = (
    "is not deterministic: computed twice from the same inputs, y of case many is not the same; "
    "take the chance out of it"
)


@pytest.mark.parametrize(
    ("noisy", "who"),
    [
        ({"reference": NOISY}, "the reference"),
        ({"driver": DRIVER, "run": ["y = driver.noisy(x)"]}, "the reference, or the driver,"),
    ],
)
def test_a_grade_with_a_noisy_reference_is_invalid_and_says_why(
    tmp_path: Path, noisy: dict[str, Any], who: str
) -> None:
    asked = question(tmp_path, **noisy)
    report = grade(asked, RIGHT, seed=1)
    assert report.verdict is Verdict.INVALID
    assert report.message == f"{asked.spec_path}: {who} {SAID}"


@pytest.mark.parametrize("reference", [NOISY, COUNTS])
def test_an_audit_reports_only_that_the_reference_is_noisy(tmp_path: Path, reference: str) -> None:
    (problem,) = audit_question(question(tmp_path, reference=reference), seeds=(1, 2)).problems
    assert problem.startswith("the reference is not deterministic")


def test_only_the_first_grade_of_a_question_runs_the_reference_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, looked = question(tmp_path), []
    monkeypatch.setattr(session, "require_deterministic", lambda *_, **__: looked.append(1))
    for proved, times in ((False, 1), (True, 0)):
        looked.clear()
        with GradingSession(asked, proved=proved) as opened:
            for seed in (1, 2):
                assert opened.grade(RIGHT, seed=seed).verdict is Verdict.PASS
        assert len(looked) == times
