"""What format 2 writes in another way than format 1, which is read as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.model.errors import BankError
from grader.session import grade
from tests.audit.audits import question

SIDE = {"id": "gate", "kind": "side-effects", "of": "y"}
LAW = {"sum": "y", "over": [0], "equals": 0}
SLOPES = {"id": "gate", "kind": "gradcheck", "loss": "y", "gradients": {}, "conserves": [LAW]}


def asked(folder: Path, number: int, **changes: Any) -> Any:
    """The small question in a format."""
    newer = {"starter_holds": ["open"], "starter": None} if number == 2 else {}
    return question(folder, **{"format": number} | newer | changes)


@pytest.mark.usefixtures("one_zygote")
@pytest.mark.parametrize(("number", "word"), [(1, "contract"), (1, "side-effects"), (2, "")])
def test_side_effects_have_two_words_in_format_1_and_one_since(
    tmp_path: Path, number: int, word: str
) -> None:
    check = SIDE | {"kind": word or "side-effects"}
    found = asked(tmp_path, number, checks=[check])
    report = grade(found, b"def relu(x):\n    x[x < 0] = 0\n    return x\n", seed=1)
    (result,) = report.checks
    assert result.kind == check["kind"]
    assert result.message == "relu changes its caller's x (case signs)"


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (
            SIDE | {"kind": "contract"},
            "gate: expected side-effects, found 'contract', which only format 1 has",
        ),
        (
            SLOPES,
            "gate: expected a check of kind conservation, found 'conserves', which only format 1 "
            "has",
        ),
    ],
)
def test_what_only_format_1_has_is_a_fault_with_the_word_for_it(
    tmp_path: Path, check: dict[str, Any], message: str
) -> None:
    asked(tmp_path / "one", 1, checks=[check])
    with pytest.raises(BankError) as raised:
        asked(tmp_path / "two", 2, checks=[check])
    (problem,) = raised.value.problems
    assert problem.endswith(message)
