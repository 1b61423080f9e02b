"""Mutants find the holes of a question and say where each shows; a spec explains what is none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from grader import bank
from grader.audit import mutation
from grader.audit.mutation import mutate, sample
from grader.evaluation.evaluation import Evaluation
from grader.kinds.side_effects import SideEffectsCheck
from grader.model.errors import BankError
from grader.model.mutation import Fate, Mutant, MutationReport, Reach, Trial
from grader.model.question import Question
from grader.reports.audit import mutation_page
from grader.reports.blocks import render_terminal
from grader.reports.json import mutation_to_json
from grader.reports.sheet import plain
from grader.sandbox.client import Overran
from tests.asking import with_checks

pytestmark = pytest.mark.usefixtures("one_zygote")

SPEC = """
format: 2
title: The gate that stayed open
track: activations
level: warm-up
minutes: 5
uses: [numpy]
prompt: Fix the backward pass of a gate.
interface: def gate_backward(grad_y, x)  # -> grad_x
run:
  - grad_x = gate_backward(grad_y, x)
cases:
  signs: {x: [-1.0, 2.0], grad_y: [3.0, 4.0]}
  rows: {x: {normal: [3, 4]}, grad_y: {normal: like x}}
checks:
  - {id: gate, kind: outputs, of: grad_x, cases: CASES}
SURVIVORS
"""
REFERENCE = '''import numpy as np


def gate_backward(grad_y, x):
    """Return grad_y where x is positive, 0 elsewhere."""
    return np.where(x > 0, grad_y, 0).astype(x.dtype)
'''
AT_ZERO = """survivors:
  - in: gate_backward
    was: return np.where(x > 0, grad_y, 0).astype(x.dtype)
    becomes: return np.where(x >= 0, grad_y,   0).astype(x.dtype)
    because: The derivative at 0 is left open.
"""
GONE = AT_ZERO.replace("x > 0", "x > 1")
KILLED = AT_ZERO.replace("x >= 0", "x <= 0")
# A case whose only zero is there on some seeds.
RARE = "  zeros: {x: {integers: [4], from: -2, to: 2}, grad_y: {normal: [4]}}\nchecks:"
Z = "  zeros: {x: {integers: [4, 5], from: -1, to: 1}, grad_y: {normal: [4, 5]}}\nchecks:"


def gate(
    folder: Path,
    *,
    cases: str = "[signs, rows]",
    survivors: str = "",
    zeros: bool = False,
    reference: str = REFERENCE,
) -> Question:
    """A question in a bank of its own; without the case `zeros` it has a hole."""
    spec = SPEC.replace("CASES", cases).replace("SURVIVORS", survivors)
    files = {
        "questions/gate.yaml": spec.replace("checks:", Z) if zeros else spec,
        "drills/gate/reference.py": reference,
        "drills/gate/starter.py": "def gate_backward(grad_y, x):\n    return grad_y * 1.0\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return bank.load([folder], "gate")


def shown(report: MutationReport, width: int = 80) -> str:
    """The page as text."""
    return "\n".join(map(plain, render_terminal(list(mutation_page(report)), width)))


def survivors(report: MutationReport) -> list[Trial]:
    """The mutants that the question wrongly accepts."""
    return [t for t in report.trials if t.fate is Fate.SURVIVED]


def test_a_hole_is_found_with_the_smallest_input_that_shows_it(tmp_path: Path) -> None:
    report = mutate(gate(tmp_path), seeds=range(2))
    (found,) = survivors(report)
    assert (found.mutant.scope, found.mutant.line) == ("gate_backward", 6)
    assert "x >= 0" in found.mutant.becomes
    assert found.counterexample is not None
    assert found.counterexample.reach is Reach.VALUES
    assert (
        "integers: [2]" in found.counterexample.inputs
        or "integers: [1]" in found.counterexample.inputs
    )
    assert found.counterexample.result == "grad_x"
    assert not report.ok
    killed = report.count(Fate.KILLED)
    assert report.score == killed / (killed + 1)
    assert sum(report.count(fate) for fate in Fate) == report.derived == len(report.trials)


def test_the_case_that_was_missing_kills_it(tmp_path: Path) -> None:
    report = mutate(gate(tmp_path, cases="[signs, rows, zeros]", zeros=True), seeds=range(2))
    assert not survivors(report)
    assert report.ok
    assert report.score == 1.0
    assert report.count(Fate.EQUIVALENT) > 0  # np.where(...) of the right dtype needs no cast


def test_a_mutant_that_some_seeds_let_through_is_flaky_and_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "Z", RARE)
    report = mutate(gate(tmp_path, cases="[signs, rows, zeros]", zeros=True), seeds=range(10))
    (found,) = (t for t in report.trials if t.fate is Fate.FLAKY)
    assert "x >= 0" in found.mutant.becomes
    assert 0 < len(found.passing_seeds) < 10
    assert found.killed_by == "gate"
    assert found.seed not in found.passing_seeds
    share = f"{10 - len(found.passing_seeds)} of 10 seeds"
    (problem,) = report.problems
    assert problem.startswith(
        "the mutant of gate_backward, line 6, that reads 'return np.where(x >"
    )
    assert f"is stopped on {share}, and passes every check on seed" in problem
    page = shown(report)
    assert "FLAKY gate_backward, line 6: another comparison" in page
    assert f"stopped on {share}, by gate" in page
    killed = report.count(Fate.KILLED)
    assert report.score == killed / (killed + 1)
    data = mutation_to_json(report)
    assert data["flaky"] == 1


def test_a_flaky_mutant_may_be_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "Z", RARE)
    asked = gate(tmp_path, cases="[signs, rows, zeros]", zeros=True, survivors=AT_ZERO)
    report = mutate(asked, seeds=range(10))
    assert report.ok
    assert report.count(Fate.EXPLAINED) == 1


def test_a_case_that_no_check_compares_is_named(tmp_path: Path) -> None:
    report = mutate(gate(tmp_path, zeros=True), seeds=range(2))
    (found,) = survivors(report)
    assert found.counterexample is not None
    assert found.counterexample.reach is Reach.SAME
    assert found.counterexample.advice == (
        "let gate look at zeros, with more draws or numbers that are written"
    )


def test_a_survivor_may_be_explained_however_its_line_is_laid_out(tmp_path: Path) -> None:
    moved = REFERENCE.replace("    return np.where(x > 0,", "    return np.where(\n        x>0,")
    report = mutate(gate(tmp_path, survivors=AT_ZERO, reference=moved), seeds=range(2))
    assert report.ok
    assert report.score == 1.0
    (explained,) = [t for t in report.trials if t.fate is Fate.EXPLAINED]
    assert explained.because == "The derivative at 0 is left open."
    assert "is explained: The derivative at 0 is left open." in " ".join(shown(report).split())


@pytest.mark.parametrize(
    ("written", "told"),
    [(GONE, "no mutant of the reference reads so"), (KILLED, "a check kills it")],
)
def test_an_explanation_that_explains_nothing_is_a_fault(
    tmp_path: Path, written: str, told: str
) -> None:
    report = mutate(gate(tmp_path, survivors=written), seeds=range(2))
    assert any(told in p and p.startswith("survivors[0] (gate_backward") for p in report.problems)


def test_a_mutant_that_hangs_is_killed_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = ["n -= 1", "return np.where(x >= 0, grad_y, 0).astype(x.dtype)"]

    def chosen(mutants: Sequence[Mutant], at_most: int | None) -> list[Mutant]:
        return [m for m in mutants if m.becomes in wanted]

    monkeypatch.setattr(mutation, "sample", chosen)
    monkeypatch.setattr(mutation, "LEAST_SECONDS", 0.4)  # a call of the others takes a thousandth
    loop = "    n = 0\n    while n < 3:\n        n += 1\n    return np"
    question = gate(tmp_path, reference=REFERENCE.replace("    return np", loop))
    report = mutate(question, seeds=[0])
    assert [t.mutant.becomes for t in report.trials] == wanted
    assert [t.fate for t in report.trials] == [Fate.KILLED, Fate.SURVIVED]


def test_a_mutant_that_overran_on_a_busy_machine_is_searched_in_the_process_of_its_second_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen(mutants: Sequence[Mutant], at_most: int | None) -> list[Mutant]:
        return [m for m in mutants if "x >= 0" in m.becomes]

    real = mutation._Trying._killer
    tries: list[float] = []

    def late(
        trying: mutation._Trying, evaluation: Evaluation, likely: str = ""
    ) -> tuple[str | None, bool]:
        check = real(trying, evaluation, likely)
        if evaluation.submission.name == mutation.NAME:
            tries.append(evaluation.submission.call_seconds)
            if len(tries) == 1:
                evaluation.submission.worker.failure = Overran("took too long")
        return check

    monkeypatch.setattr(mutation, "sample", chosen)
    (usual,) = mutate(gate(tmp_path), seeds=[0]).trials
    monkeypatch.setattr(mutation._Trying, "_killer", late)
    (trial,) = mutate(gate(tmp_path), seeds=[0]).trials
    assert tries[1] == pytest.approx(3 * tries[0])
    assert trial.counterexample == usual.counterexample


def test_a_reference_that_fails_its_own_checks_is_said_to(tmp_path: Path) -> None:
    question = gate(tmp_path, reference=REFERENCE.replace("return", "x += 1\n    return"))
    manners = SideEffectsCheck(id="manners", kind="side-effects", of="grad_x")
    report = mutate(with_checks(question, [*question.spec.checks, manners]), seeds=[0])
    assert report.problems == ("the reference does not pass manners: audit it first",)
    assert not report.trials


def test_a_sample_is_the_same_each_time_and_part_of_a_larger_one() -> None:
    mutants = [Mutant("f", n, "rule", f"x = {n}", "x = 0", n, n + 1, "x") for n in range(50)]
    few, more = sample(mutants, 5), sample(mutants, 20)
    assert len(few) == 5
    assert few == sample(list(mutants), 5)
    assert {m.line for m in few} < {m.line for m in more}
    assert [m.line for m in more] == sorted(m.line for m in more)
    assert sample(mutants, None) == sample(mutants, 99) == mutants


def test_what_is_known_is_reported_when_somebody_stops_it(tmp_path: Path) -> None:
    steps: list[str] = []

    def impatient(line: str) -> None:
        steps.append(line)
        if len(steps) == 4:
            raise KeyboardInterrupt

    report = mutate(gate(tmp_path, survivors=KILLED), seeds=[0], progress=impatient)
    assert report.interrupted
    assert len(report.trials) == 3
    assert not any("a check kills it" in p for p in report.problems)  # nobody knows yet
    assert "of those tried before you stopped it" in " ".join(shown(report).split())
    assert steps[0].startswith("gate: mutant 1 of ")


def test_the_page_and_the_document_show_the_lines_and_the_place(tmp_path: Path) -> None:
    report = mutate(gate(tmp_path), seeds=[0])
    page = shown(report)
    for text in (
        "SURVIVES gate_backward, line 6: another comparison",
        "- return np.where(x > 0, grad_y, 0).astype(x.dtype)",
        "+ return np.where(x >= 0, grad_y, 0).astype(x.dtype)",
        "differs on  the case with small whole numbers: signs, seed 700",
        "to do       add this case, and let gate look at it",
        "1 wrong mutant passes every check",
    ):
        assert text in page
    assert max(map(len, page.splitlines())) <= 80
    data = json.loads(json.dumps(mutation_to_json(report)))
    assert data["tried"] == data["derived"] == len(data["mutants"])
    assert data["survived"] == 1
    (row,) = [m for m in data["mutants"] if m["fate"] == "survived"]
    assert row["in"] == "gate_backward"
    assert row["witness"]["case"] == "signs"


def test_a_survivor_explained_twice_is_a_fault_of_the_spec(tmp_path: Path) -> None:
    again = AT_ZERO + AT_ZERO.removeprefix("survivors:\n").replace(
        "x >= 0, grad_y,", "x >=  0, grad_y,"
    )
    with pytest.raises(BankError) as caught:
        gate(tmp_path, survivors=again)
    assert "survivors[1]: expected each mutant once, found that of survivors[0] again" in str(
        caught.value.problems
    )
