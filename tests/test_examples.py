"""The examples of docs/authoring.md: proved, and of every kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import bank
from grader.audit.audit import audit_question

pytestmark = pytest.mark.usefixtures("one_zygote")

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = DOCS / "examples"
QUESTIONS = sorted(path.stem for path in (EXAMPLES / "questions").glob("*.yaml"))


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_example_passes_its_audit_without_a_remark(name: str) -> None:
    report = audit_question(bank.load_question([EXAMPLES], name), seeds=range(2))
    assert report.problems == ()
    assert report.remarks == ()


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_example_is_on_the_page_and_can_be_mailed(name: str) -> None:
    path = EXAMPLES / "questions" / f"{name}.yaml"
    assert f"(examples/questions/{name}.yaml)" in (DOCS / "authoring.md").read_text("utf-8")
    assert bank.load_question([path], name).spec == bank.load_question([EXAMPLES], name).spec


def test_together_they_use_every_kind_that_needs_no_card_and_no_clock() -> None:
    checks = [c for name in QUESTIONS for c in bank.load_question([EXAMPLES], name).spec.checks]
    wanted = {"outputs", "gradcheck", "numbers", "curve", "graph", "memory"}
    assert wanted <= {check.kind for check in checks}
