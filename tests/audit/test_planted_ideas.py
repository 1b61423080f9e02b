"""Ideas are named in accepted solutions whose functions are replaced by those of the ideas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from grader.audit.audit import audit_question
from grader.audit.planted_ideas import plant_idea, plant_ideas
from grader.explain.session import GradingSession
from grader.model.audit import PlantingResult
from grader.model.question import Question
from grader.reports.audit import audit_page
from grader.reports.blocks import render_terminal
from tests.audit.audits import cells, question
from tests.pages import text

pytestmark = pytest.mark.usefixtures("one_zygote")

REFERENCE = """
    import numpy as np

    def relu(x):
        return _floored(x)

    def doubled(x):
        return 2 * relu(x)

    def _floored(x):
        return np.where(x > 0, x, 0).astype(x.dtype)
"""
PLAIN = """
    import numpy as np

    def relu(x):
        return np.maximum(x, 0)

    def doubled(x):
        return x * (x > 0) * 2
"""
WRAPPED = "_before = relu\n\ndef relu(x):\n    return _before(x) + 1\n"
WITH_A_HELPER = "def relu(x):\n    return _floored(x) * 3\n"
OF_A_HELPER = "def _floored(x):\n    return x.copy()\n"


def planting_question(folder: Path, variants: Mapping[str, str], accepted: str = PLAIN) -> Question:
    feedback = {"killed_by": "gate", "feedback": "It is something else."}
    return question(
        folder,
        reference=REFERENCE,
        variants=variants,
        misconceptions=dict.fromkeys(variants, feedback),
        interface="def relu(x), def doubled(x)",
        run=["y = relu(x)", "z = doubled(x)"],
        checks=[{"id": "gate", "kind": "outputs", "of": "y"}],
        code={"accepted": cells({}, {"plain": accepted})},
        starter_holds=None,
    )


def layers(folder: Path, idea: str, accepted: str = PLAIN) -> list[str] | None:
    """Return what stands on top of the accepted solution; None if it does not take the idea."""
    asked = planting_question(folder, {"idea": idea}, accepted)
    sources = plant_idea(asked, asked.accepted["plain"], asked.variants["idea"][0])
    return None if sources is None else [layer.decode().strip() for layer in sources[1:]]


def test_helpers_that_an_idea_needs_are_brought_along(tmp_path: Path) -> None:
    (wrapped,) = layers(tmp_path / "a", WRAPPED) or ("",)
    assert wrapped.endswith(WRAPPED.strip())
    helper, idea = layers(tmp_path / "b", WITH_A_HELPER) or ("", "")
    assert helper.startswith("def _floored(x):")
    assert idea.endswith(WITH_A_HELPER.strip())


def test_a_solution_without_the_function_or_with_another_helper_takes_no_idea(
    tmp_path: Path,
) -> None:
    assert layers(tmp_path / "a", OF_A_HELPER) is None
    other = f"{PLAIN}\n    def _floored(x, floor):\n        return np.maximum(x, floor)\n"
    assert layers(tmp_path / "b", WITH_A_HELPER, other) is None
    assert layers(tmp_path / "c", OF_A_HELPER, other) is None


def test_a_constant_that_is_bound_with_others_is_brought_with_all_that_changes_it(
    tmp_path: Path,
) -> None:
    constants = "LOW, HIGH = 0, 1\nLOW += 2\n"
    asked = planting_question(tmp_path, {"idea": "def relu(x):\n    return x + LOW\n"})
    asked = replace(asked, reference=constants.encode() + asked.reference)
    brought, _ = (plant_idea(asked, asked.accepted["plain"], asked.variants["idea"][0]) or [])[1:]
    assert brought.decode() == "LOW, HIGH = (0, 1)\nLOW += 2"


def test_an_idea_is_named_although_only_the_reference_uses_its_function_again(
    tmp_path: Path,
) -> None:
    # In the reference `doubled` calls relu and is wrong as well; the accepted solution's is right.
    asked = planting_question(
        tmp_path, {"one-more": WRAPPED, "three-times": WITH_A_HELPER, "open": OF_A_HELPER}
    )
    with GradingSession(asked) as session:
        planting = plant_ideas(session, 1)
    assert planting == PlantingResult(named=2, missed=(), passing=0, impossible=1)
    assert planting.named_share == 1


def test_an_audit_says_how_many_are_named_and_which_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = planting_question(tmp_path, {"one-more": WRAPPED, "three-times": WITH_A_HELPER})
    report = audit_question(asked, seeds=(1,))
    assert report.planted == PlantingResult(2, (), 0, 0)
    assert "planted: 2 of 2 named (100%)" in text(render_terminal(list(audit_page(report)), 80))

    missed = ("one-more in plain (named: nothing)",)
    monkeypatch.setattr(
        "grader.audit.audit.plant_ideas", lambda *_: PlantingResult(2, missed, 0, 0)
    )
    report = audit_question(asked, seeds=(1,))
    page = text(render_terminal(list(audit_page(report)), 80))
    assert "planted: 2 of 3 named (67%)" in page
    assert f"not named: {missed[0]}" in page
    assert [r.text for r in report.remarks if r.about == "planted"] == [
        "2 of 3 ideas planted in accepted solutions are named"
    ]
