"""`drill bank preview`: the page of somebody who holds a misconception."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.audit.audits import REFERENCE, question
from tests.cli.conftest import Drill

pytestmark = pytest.mark.usefixtures("one_zygote")

VARIANTS = {"open": "from __future__ import annotations\n\ndef relu(x):\n    return x.copy()\n"}


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """A question with a misconception of two variants, and a reference with a future."""
    ideas = {
        "open": {"killed_by": "gate", "feedback": "It lets all through."},
        "zero": {
            "killed_by": "gate",
            "feedback": "It lets nothing through.",
            "code": ["def relu(x):\n    return x * 0\n", "def relu(x):\n    return x * 0 - 1\n"],
        },
    }
    reference = "\n    from __future__ import annotations\n" + REFERENCE
    begin = "def relu(x):\n    return x * 2\n"
    changes: dict[str, Any] = {
        "reference": reference,
        "variants": VARIANTS,
        "misconceptions": ideas,
    }
    question(tmp_path / "bank", begin=begin, **changes)
    return tmp_path / "bank"


def test_it_shows_every_variant_as_a_grade_would(real: Drill, bank: Path) -> None:
    ended = real("--bank", str(bank), "bank", "preview", "gate", "zero")
    assert ended.status == 0, ended.err
    first, second = ended.out.split("\nzero (2)\n")
    for page in (first, second):
        assert "FAIL" in page
        assert "It lets nothing through." in page
    assert first.startswith("zero\n")
    assert "\nFAIL  gate   seed 0\n" in first


def test_one_variant_may_be_chosen_and_nothing_is_recorded(real: Drill, bank: Path) -> None:
    words = ("--bank", str(bank), "bank", "preview", "gate")
    ended = real(*words, "zero", "--variant", "2", "--seed", "5", "--json")
    (page,) = ended.data["pages"]
    assert page["name"] == "zero (2)"
    assert page["report"]["seed"] == 5
    assert [m["id"] for m in page["report"]["misconceptions"]] == ["zero"]
    (page,) = real(*words, "open", "--json").data["pages"]
    assert [m["id"] for m in page["report"]["misconceptions"]] == ["open"]
    (page,) = real(*words, "starter", "--json").data["pages"]
    assert page["report"]["verdict"] == "fail"
    assert real("history", "--json").data["attempts"] == []


def test_what_there_is_not_is_a_mistake_of_usage(real: Drill, bank: Path) -> None:
    words = ("--bank", str(bank), "bank", "preview", "gate")
    real(*words, "opne").refused("gate has no misconception 'opne'; did you mean 'open'?")
    real(*words, "zero", "--variant", "3").refused("zero has 2 variants: there is no --variant 3")
