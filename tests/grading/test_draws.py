"""A fault that shows only on some draws is stopped on every seed if a case has many draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.explain.session import GradingSession
from grader.model.report import Verdict
from tests.audit.audits import question

pytestmark = pytest.mark.usefixtures("one_zygote")

# A fast path, right without ties in a row, that is chosen by looking at the first row alone.
FAST = b"""
import numpy as np

def relu(x):
    if len(set(x[0])) == x.shape[1]:
        return (x == np.sort(x, 1)[:, -1:]).astype(float)
    return np.eye(x.shape[1])[x.argmax(1)]
"""
REFERENCE = """
    import numpy as np

    def relu(x):
        return np.eye(x.shape[1])[x.argmax(1)]
"""
ROWS = {"x": {"integers": [4, 3], "from": 0, "to": 4}}


def failures_by_seed(folder: Path, **more: Any) -> list[bool]:
    """Return for each seed whether the submission fails."""
    asked = question(folder, reference=REFERENCE, cases={"rows": ROWS | more})
    with GradingSession(asked, proved=True) as session:
        reports = [session.grade(FAST, seed=seed) for seed in range(12)]
    assert {r.verdict for r in reports} <= {Verdict.PASS, Verdict.FAIL}
    return [r.verdict is Verdict.FAIL for r in reports]


def test_many_draws_stop_a_program_that_one_draw_lets_through_on_some_seeds(tmp_path: Path) -> None:
    failures = failures_by_seed(tmp_path)
    assert any(failures)
    assert not all(failures)
    assert all(failures_by_seed(tmp_path, draws=24))


def test_a_check_that_names_the_case_judges_all_its_draws(tmp_path: Path) -> None:
    checks = [{"id": "gate", "kind": "outputs", "of": "y", "cases": "rows"}]
    asked = question(tmp_path, checks=checks, cases={"rows": ROWS | {"draws": 4}})
    with GradingSession(asked, proved=True) as session:
        evaluation = session.evaluate_bank_program("it", [asked.reference], 1)
        names = [case.name for case in evaluation.cases_of(asked.spec.checks[0])]
    assert names == ["rows", "rows (2)", "rows (3)", "rows (4)"]
