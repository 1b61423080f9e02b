"""The least that has to change in a starter: read, divided into changes, and held to pass."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader import bank
from grader.audit.accepted_and_trivial import check_repair
from grader.bank.starter_repair import RepairChange, repair_changes, repair_errors, repaired_starter
from grader.explain.session import GradingSession
from grader.model.question import Question
from tests.content import each_question

pytestmark = pytest.mark.usefixtures("one_zygote")

ROOT = Path(__file__).parents[2]
MINI = ROOT / "tests" / "banks" / "small"
SMALL = ROOT / "tests" / "banks" / "parts"

STARTER = "def f(x):\n    a = 1\n    b = 2\n    return x\n"
REPAIR = """\
def f(x):
    # why: a was too small,
    #      by one.
    a = 2
    # why 2: b is not used.
    return x


# why 2: Part 2 asks for g.
def g(x):
    return x
"""

# Of the small question: a change for each of its parts.
RIGHT = """\
# why 3: spread needs numpy's root.
import numpy as np


def mean(x):
    total = 0.0
    for entry in x:
        total += entry
    # why: a sum grows with the number of samples.
    # why 2: of no samples the mean is 0.
    return total / max(1, len(x))


# why 3: Part 3 asks for it.
def spread(x):
    return float(np.sqrt(np.mean((x - mean(x)) ** 2)))
"""


def question(starter: str, repair: str) -> Question:
    (name,) = (header.id for header in bank.headers([SMALL]))
    made = bank.load_question([SMALL], name)
    return replace(made, starter=starter.encode(), repair=repair.encode())


def test_every_change_has_its_sentences_and_the_starter_becomes_the_repair_part_by_part() -> None:
    asked = question(STARTER, REPAIR)
    assert repair_changes(asked) == (
        RepairChange(2, ("    a = 1",), ("    a = 2",), ((1, "a was too small, by one."),)),
        RepairChange(3, ("    b = 2",), (), ((2, "b is not used."),)),
        RepairChange(5, (), ("", "", "def g(x):", "    return x"), ((2, "Part 2 asks for g."),)),
    )
    assert not list(repair_errors(asked))
    assert repaired_starter(asked, 1).decode() == STARTER.replace("a = 1", "a = 2")
    assert repaired_starter(asked, 2) == repaired_starter(asked)
    assert (
        repaired_starter(asked).decode().startswith("def f(x):\n    a = 2\n    return x\n\n\ndef g")
    )


@pytest.mark.parametrize(
    ("starter", "repair", "said"),
    [
        ("a = 1\n", "a = 2\n", "above the change to 'a = 2', found none"),
        ("a = 1\n", "# why 9: no such part\na = 2\n", "of a part from 1 to"),
        ("a = 1\n", "# why:\na = 2\n", "expected `# why N: SENTENCE`"),
        ("a = 1\n", "# why: nothing is changed\na = 1\n", "found none"),
    ],
)
def test_a_wrong_repair_is_reported(starter: str, repair: str, said: str) -> None:
    (fault,) = repair_errors(question(starter, repair))
    assert said in fault


def test_the_audit_names_the_part_that_a_repair_does_not_pass() -> None:
    (name,) = (header.id for header in bank.headers([SMALL]))
    asked = bank.load_question([SMALL], name)
    asked = replace(asked, repair=b"# why: this is still the starter\n" + asked.starter)
    with GradingSession(asked) as session:
        *written, found = check_repair(session, [0, 1])
    file = f"drills/{name}/repair.py: "
    assert all(one.startswith(f"{file}expected ") for one in written)
    assert found.startswith(f"{file}the starter with the changes of part 1 is stopped: ")


def test_a_repair_that_passes_no_seed_is_reported_once() -> None:
    name = "halve-well"
    asked = bank.load_question([MINI], name)
    asked = replace(asked, repair=b"# why: this is still the starter\n" + asked.starter)
    with GradingSession(asked) as session:
        *_, found = check_repair(session, [0, 1])
    assert "the starter with the changes of part 1 is stopped on all 2 seeds: " in found


@each_question()
def test_every_question_has_a_repair_whose_changes_have_sentences(name: str) -> None:
    """That it passes part by part is in its proof."""
    question = bank.load_question([ROOT], name)
    assert question.repair
    assert not list(repair_errors(question))


def test_a_repair_that_passes_part_by_part_is_accepted() -> None:
    (name,) = (header.id for header in bank.headers([SMALL]))
    asked = replace(bank.load_question([SMALL], name), repair=RIGHT.encode())
    assert len(asked.spec.parts) == 3
    with GradingSession(asked) as session:
        assert check_repair(session, [3]) == []
