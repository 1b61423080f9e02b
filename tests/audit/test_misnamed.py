"""A mutant is called by an idea only where it computes what the idea does, whatever the sizes."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.audit.mutation import mutate
from grader.model.mutation import MutationReport
from tests.audit.audits import question

pytestmark = pytest.mark.usefixtures("one_zygote")

MEAN = """
    import numpy as np

    def relu(x):
        return x.sum(0) / len(x)
"""
# With two rows this is the mutant `x.sum(0) * len(x)`.
FOURFOLD = {"fourfold": "def relu(x):\n    return x.sum(0) / len(x) * 4\n"}


def mutated(folder: Path, *rows: int, names: bool = True) -> MutationReport:
    """The mutants of a mean of so many rows, one case each."""
    asked = question(
        folder,
        reference=MEAN,
        variants=FOURFOLD,
        misconceptions={"fourfold": {"killed_by": "gate", "feedback": "Four times."}},
        starter=["fourfold"],
        cases={f"case-{n}": {"x": {"normal": [r, 4]}} for n, r in enumerate(rows)},
    )
    return mutate(asked, seeds=[1], names=names)


def test_a_name_that_sizes_alone_make_true_is_a_fault(tmp_path: Path) -> None:
    report = mutated(tmp_path, 2, 2, 2, 2, 2, 2)
    (problem,) = report.problems
    assert problem.startswith(
        "the mutant of relu, line 5: it is called fourfold, and y is another on x: {"
    )
    (trial,) = (t for t in report.trials if t.misnamed)
    assert trial.mutant.becomes == "return x.sum(0) * len(x)"
    assert trial.named == ("fourfold",)


def test_sizes_that_tell_them_apart_leave_it_without_a_name(tmp_path: Path) -> None:
    report = mutated(tmp_path, 2, 5)
    assert report.ok
    assert not any(t.named for t in report.trials)


def test_names_are_looked_for_only_when_they_are_asked_for(tmp_path: Path) -> None:
    report = mutated(tmp_path, 2, 2, names=False)
    assert report.ok
    assert not any(t.named for t in report.trials)
