"""Right solutions in other styles pass every check, or the question is at fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.audit.proof import audit
from grader.model.audit import Accepted, AuditReport
from tests.audit.audits import SPEC, question

pytestmark = pytest.mark.usefixtures("one_zygote")

LOOPS = """\
import numpy as np

def relu(x):
    y = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        if x[place] > 0:
            y[place] = x[place]
    return y
"""
LEAKY = """\
import numpy as np

def relu(x):
    return np.where(x > 0, x, 0.01 * x)
"""


def held(folder: Path, *, seeds: tuple[int, ...] = (1, 2), **sources: str) -> AuditReport:
    """Audit the question with these right solutions inline."""
    code: dict[str, Any] = {"accepted": sources}
    return audit(question(folder, **(SPEC | {"code": code})), seeds=seeds)


def test_right_solutions_in_other_styles_are_held_on_every_seed(tmp_path: Path) -> None:
    report = held(tmp_path, loops=LOOPS)
    assert report.problems == ()
    assert report.accepted[0] == Accepted("loops", 2, 2)


def test_one_that_a_check_does_not_pass_is_a_fault_with_file_check_and_message(
    tmp_path: Path,
) -> None:
    report = held(tmp_path, loops=LOOPS, leaky=LEAKY)
    (problem,) = report.problems
    assert problem.startswith(
        "questions/gate.yaml: gate does not pass leaky, and it is right, on all 2 seeds: "
        "y differs in 2 of 2 cases"
    )
    assert report.accepted[:2] == (Accepted("loops", 2, 2), Accepted("leaky", 0, 2))


def test_one_that_does_not_load_is_a_fault_with_its_line(tmp_path: Path) -> None:
    (problem,) = held(tmp_path, broken="import nunpy\n").problems
    assert problem.startswith("questions/gate.yaml: the accepted broken cannot be loaded: raised")
    assert "No module named 'nunpy'" in problem


def test_it_stands_alone_and_not_over_the_reference(tmp_path: Path) -> None:
    (problem,) = held(tmp_path, empty="def other(x):\n    return x\n").problems
    assert problem == (
        "questions/gate.yaml: the accepted empty does not define relu on all 2 seeds"
    )
