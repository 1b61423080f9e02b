"""What is said of a question before anything is run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.audit.audit import audit
from tests.audit.audits import audited, question, said

pytestmark = pytest.mark.usefixtures("one_zygote")


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
