"""Entries that no band can judge, and what nothing looks at or is nowhere, are remarked on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.audit.proof import audit
from tests.audit.audits import audited, question, said

pytestmark = pytest.mark.usefixtures("one_zygote")


def test_entries_that_are_too_small_beside_the_largest_are_named(tmp_path: Path) -> None:
    cases = {
        "signs": {"x": [[-1.0, 2.0]]},
        "steep": {"x": [[1e15, 1.0, 2.0, -3.0]]},
        "steeper": {"x": [[1e15, 1.0, -3.0, -4.0]]},
    }
    assert said(audited(tmp_path, cases=cases), "range") == [
        "gate: 2 of 4 entries of y in case steep are so small beside the largest, or beside the "
        "inputs, that the check allows them to be nearly anything; give them a case of their own"
    ]


@pytest.mark.parametrize(
    "x", [[[1e10, 1.0, 2.0]], [[1e-300, 2e-300]], [[0.0, 0.0]], [[1e300, 3e299]]]
)
def test_entries_that_are_judged_are_not(tmp_path: Path, x: list[list[float]]) -> None:
    cases = {"signs": {"x": [[-1.0, 2.0]]}, "wide": {"x": x}}
    assert said(audited(tmp_path, cases=cases), "range") == []


def test_a_case_that_no_check_looks_at_is_remarked_on_with_its_place(tmp_path: Path) -> None:
    check = {"id": "gate", "kind": "outputs", "of": "y", "cases": "signs"}
    (text,) = said(audited(tmp_path, checks=[check]), "unused")
    assert re.fullmatch(r"questions/gate\.yaml:\d+:3: cases\.many: no check looks at it; .*", text)


def test_what_is_to_be_passed_before_is_another_question_of_the_bank(tmp_path: Path) -> None:
    before = ["there", "nowhere", "gate"]
    asked = question(tmp_path, format=2, starter=None, starter_holds=["open"], prerequisites=before)
    (tmp_path / "questions" / "there.yaml").write_text("title: There\n")
    assert said(audit(asked, seeds=(1,)), "prerequisites") == [
        f"prerequisites: there is no other question {name} in this bank" for name in before[1:]
    ]
