"""Sizes that make two ideas compute the same are remarked on, with the case and the ideas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.model.audit import AuditReport
from tests.audit.audits import audited, said

pytestmark = pytest.mark.usefixtures("one_zygote")

MEAN = """
    import numpy as np

    def relu(x):
        return x.sum(0) / len(x)
"""
VARIANTS = {
    "halved": "def relu(x):\n    return x.sum(0) / len(x) / 2\n",
    "twice-meant": "def relu(x):\n    return x.sum(0) / len(x) ** 2\n",
}
TWO, FIVE = {"x": {"normal": [2, 3]}}, {"x": {"normal": [5, 3]}}


def means(folder: Path, rows: dict[str, Any], *checks: dict[str, Any]) -> AuditReport:
    """Audit a question about a mean with two wrong ideas, which two rows make one."""
    ideas = {n: {"killed_by": "gate", "feedback": "Wrong."} for n in VARIANTS}
    gates = [{"id": "gate", "kind": "outputs", "of": "y", "cases": "few"}, *checks]
    changes: dict[str, Any] = {
        "misconceptions": ideas,
        "variants": VARIANTS,
        "checks": gates,
        "cases": rows,
    }
    return audited(folder, reference=MEAN, starter_holds=["halved"], **changes)


MORE = {"id": "more", "kind": "outputs", "of": "y", "cases": "many"}


def test_a_check_that_sees_two_ideas_as_one_is_named_with_its_case(tmp_path: Path) -> None:
    (remark,) = said(means(tmp_path, {"few": TWO, "many": FIVE}, MORE), "alike")
    assert remark == (
        "gate sees halved and twice-meant as one: in few they compute the same, and in other cases "
        "not; is a size equal to another, or to a factor?"
    )


def test_sizes_that_tell_them_apart_are_not(tmp_path: Path) -> None:
    assert said(means(tmp_path, {"few": FIVE, "many": TWO}, MORE), "alike") == []


def test_nor_is_a_check_whose_needs_tell_them_apart(tmp_path: Path) -> None:
    first = {"id": "first", "kind": "outputs", "of": "y", "cases": "many"}
    gate = {"id": "gate", "kind": "outputs", "of": "y", "cases": "few", "needs": "first"}
    changes: dict[str, Any] = {
        "misconceptions": {n: {"killed_by": "first", "feedback": "Wrong."} for n in VARIANTS},
        "variants": VARIANTS, "checks": [first, gate], "cases": {"few": TWO, "many": FIVE},
    }  # fmt: skip
    report = audited(tmp_path, reference=MEAN, starter_holds=["halved"], **changes)
    assert said(report, "alike") == []
