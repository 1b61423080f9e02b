"""A cause is one fault, with file, line and seeds, and what follows from it is not said too."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.audit.audit import audit
from tests.audit.audits import audited, question, said

pytestmark = pytest.mark.usefixtures("one_zygote")

GATE = {"id": "gate", "kind": "outputs", "of": "y"}
SIGNS = {"x": [[-1.0, 2.0]]}


def test_a_reference_that_raises_is_one_fault_with_message_and_line(tmp_path: Path) -> None:
    reference = "def relu(x):\n    raise ValueError('too small')\n"
    report = audited(tmp_path, seeds=(1, 2), reference=reference)
    assert report.problems == (
        "the reference does not pass gate on all 2 seeds: its relu raised ValueError "
        "in case signs: too small, in drills/gate/reference.py:2",
    )
    assert [row.name for row in report.programs] == ["reference"]


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("relu = 1 / 0\n", "ZeroDivisionError: division by zero, in {}:1: relu = 1 / 0"),
        ("def relu(x):\n    return (x\n", "SyntaxError: '(' was never closed, in {}:2: return (x"),
        ("\nimport nunpy\n", "ModuleNotFoundError: No module named 'nunpy', in {}:2: import nunpy"),
    ],
)
def test_a_reference_that_does_not_load_is_told_with_its_line(
    tmp_path: Path, reference: str, found: str
) -> None:
    report = audited(tmp_path, reference=reference, begin="relu = print\n")
    told = found.format("drills/gate/reference.py")
    assert report.problems == (f"the reference cannot be loaded: raised {told}",)
    assert report.programs == ()


def test_other_programs_that_do_not_load_are_told_with_theirs(tmp_path: Path) -> None:
    begun = audited(tmp_path / "a", begin="import nunpy\n")
    (problem,) = begun.problems
    assert problem.startswith("seed 1, starter: starter cannot be loaded: raised ModuleNotFound")
    assert problem.endswith("No module named 'nunpy', in drills/gate/starter.py:1: import nunpy")
    broken = {"open": "def relu(x):\n    return x\n", "half-open": "\nhalf = x\n"}
    asked = question(
        tmp_path / "b",
        variants=broken,
        misconceptions={n: {"killed_by": "gate", "feedback": "Wrong."} for n in broken},
    )
    (problem,) = audit(asked, seeds=(1,)).problems
    where = "name 'x' is not defined, in drills/gate/misconceptions/half_open.py:2: half = x"
    assert problem.endswith(where)


def test_a_wrong_idea_that_passes_everything_is_one_fault_for_all_seeds(tmp_path: Path) -> None:
    report = audited(
        tmp_path,
        seeds=(1, 2, 3),
        variants={"open": "def relu(x):\n    return np.maximum(x, 0)\n"},
        begin="def relu(x):\n    return x * 1\n",
        starter_holds=[],
    )
    assert report.problems == ("open passes every check on all 3 seeds",)


def test_a_wrong_idea_that_passes_on_some_seeds_is_told_with_those(tmp_path: Path) -> None:
    report = audited(
        tmp_path,
        seeds=range(8),
        variants={"open": "def relu(x):\n    return x if x.size == 1 else np.maximum(x, 0)\n"},
        cases={"one": {"x": {"normal": [1, 1]}}},
        starter_holds=[],
        begin="def relu(x):\n    return x - 7\n",
    )
    lucky = report.programs[2].passing_seeds["gate"]
    assert 0 < len(lucky) < 8
    seeds = f"seed{'' if len(lucky) == 1 else 's'} {', '.join(map(str, lucky))}"
    assert report.problems[0].startswith(
        f"open is stopped on {8 - len(lucky)} of 8 seeds, and passes every check on {seeds}: give"
    )
    assert not any("killed by" in p or "diagnosed" in p for p in report.problems)


def test_a_claimed_check_that_another_forestalls_is_told_with_what_to_do(tmp_path: Path) -> None:
    floor = {**GATE, "id": "floor", "needs": "gate", "cases": "many"}
    last = {**GATE, "id": "last", "needs": "floor", "cases": "many"}
    report = audited(
        tmp_path,
        seeds=(1, 2),
        checks=[GATE, floor, last],
        misconceptions={"open": {"killed_by": "last", "feedback": "Open."}},
    )
    assert report.problems == (
        "open is said to be killed by last, but gate, which last needs, stops it first "
        "on all 2 seeds: use cases on which it passes gate, or claim gate",
    )


def test_a_claimed_check_that_it_passes_is_told_so_and_not_called_idle(tmp_path: Path) -> None:
    below = {**GATE, "id": "below", "cases": "positive"}
    report = audited(
        tmp_path,
        cases={"signs": SIGNS, "many": {"x": {"normal": [4, 5]}}, "positive": {"x": [[1.0]]}},
        checks=[GATE, below],
        misconceptions={"open": {"killed_by": ["gate", "below"], "feedback": "Open."}},
    )
    assert "open is said to be killed by below, which it passes" in report.problems
    assert not any("idle" in problem for problem in report.problems)
    # A check that passes contradicts the idea that it claims.
    assert "open is diagnosed as nothing, expected open" in report.problems


TYPO = {"open": "def relu(x):\n    return np.maxmum(x, 0)\n"}


def test_a_wrong_idea_with_a_typo_is_remarked_on_with_line_and_message(tmp_path: Path) -> None:
    begin = "def relu(x):\n    return x.copy()\n"
    report = audited(tmp_path, seeds=(1, 2), variants=TYPO, begin=begin, starter_holds=[])
    assert report.ok, report.problems
    (remark,) = said(report, "raising")
    assert remark.startswith("open raises AttributeError in relu, line 2, on every case")
    assert "has no attribute 'maxmum'" in remark


@pytest.mark.parametrize("feedback", ["It raises there.", "Here an AttributeError comes out."])
def test_a_wrong_idea_that_is_about_raising_is_not(tmp_path: Path, feedback: str) -> None:
    ideas = {"open": {"killed_by": "gate", "feedback": feedback}}
    assert said(audited(tmp_path, variants=TYPO, misconceptions=ideas), "raising") == []


@pytest.mark.parametrize(
    ("feedback", "faulty"), [("It is wrong.", True), ("It raises ValueError.", False)]
)
def test_a_starter_that_only_raises_is_a_fault(tmp_path: Path, feedback: str, faulty: bool) -> None:
    broken = "def relu(x):\n    raise ValueError('to do')\n"
    report = audited(
        tmp_path,
        seeds=(1, 2),
        variants={"open": broken},
        misconceptions={"open": {"killed_by": "gate", "feedback": feedback}},
    )
    assert not said(report, "starter")
    assert bool(report.problems) is faulty
    if faulty:
        (problem,) = report.problems
        assert problem.startswith("starter raises ValueError in relu, line ")
        assert problem.endswith(": to do; a starter runs, looks plausible and fails by its values")


def test_one_that_says_that_it_is_not_written_yet_is_remarked_on(tmp_path: Path) -> None:
    broken = {"open": "def relu(x):\n    raise NotImplementedError\n"}
    report = audited(tmp_path, variants=broken)
    assert not report.problems
    (remark,) = said(report, "starter")
    assert remark.startswith("starter raises NotImplementedError in relu, line ")
