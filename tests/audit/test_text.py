"""What the text of a question promises: hints that tell too much, cases that nothing looks at."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.audit.audit import audit
from grader.audit.text import remarks_on_a_sound_one
from tests.audit.audits import audited, question, said

pytestmark = pytest.mark.usefixtures("one_zygote")


def holds(folder: Path, *told: str) -> list[str]:
    reference = """
        import numpy as np

        def relu(x):
            # The mask is what matters here, so take it first of all.
            open_gate = np.greater(x, 0)
            return (x * open_gate).astype(x.dtype) + np.maximum.reduce([0 * x, 0 * x])
    """
    begin = "def relu(x):\n    return x.copy()\n"
    asked = question(folder, reference=reference, begin=begin, hints=list(told))
    return [r.text for r in remarks_on_a_sound_one(asked)]


def test_a_line_of_the_reference_in_an_early_hint_is_remarked_on(tmp_path: Path) -> None:
    found = holds(tmp_path, "Write (x * open_gate).astype(x.dtype) then.", "Anything.")
    assert found == [
        "hint 1 of 2 holds ( x * open_gate ) . astype ( x . dtype ) of the reference: "
        "only the last may give the answer away; ask a question instead"
    ]


@pytest.mark.parametrize(
    "told",
    [
        "Which entries of x does the gate let through, and what is x.dtype?",
        "The mask is what matters here, so take it first of all.",  # a comment, not code
        "What does relu(x) do at x = 0 (and at x = -1), so that y is 0?",
    ],
)
def test_prose_gives_nothing_away(tmp_path: Path, told: str) -> None:
    # The starter is given, and what is in it too.
    assert holds(tmp_path, told, "The last.") == []


def test_the_last_hint_may_say_it(tmp_path: Path) -> None:
    assert holds(tmp_path, "Look closely.", "Write (x * open_gate).astype(x.dtype).") == []


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
