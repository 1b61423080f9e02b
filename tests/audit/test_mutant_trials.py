"""Mutants find the holes of a question, with an input that shows each; a spec may explain some."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from grader import bank
from grader.audit import mutant_trials
from grader.audit.mutant_trials import Search, sample_mutants, try_mutants
from grader.cases.recipe import CaseRecipe, read_cases
from grader.cases.vary import format_inputs, vary_case
from grader.explain.extra_cases import InputDomain
from grader.explain.session import GradingSession
from grader.grading.evaluation import Evaluation
from grader.grading.kinds.side_effects import SideEffectsCheck
from grader.model.audit import Counterexample, MutantFate, MutantTrial, MutationReport
from grader.model.mutants import Mutant, Reach
from grader.model.report import CheckResult
from grader.reports.audit import mutation_page, mutation_to_json
from grader.reports.blocks import render_terminal
from grader.reports.text_layout import without_styles
from grader.sandbox.client import LimitExceeded
from tests.asking import with_checks
from tests.audit.audits import AT_ZERO, BACKWARD, gate, question

pytestmark = pytest.mark.usefixtures("one_zygote")

ROOT = Path(__file__).parents[2]
ALL = ("signs", "rows", "zeros")
ZEROS = {"x": {"integers": [4, 5], "from": -1, "to": 1}, "grad_y": {"normal": [4, 5]}}
# A case whose only zero is there on some seeds.
RARE = {"x": {"integers": [4], "from": -2, "to": 2}, "grad_y": {"normal": [4]}}
GONE = {key: text.replace("x > 0", "x > 1") for key, text in AT_ZERO.items()}
KILLED = {key: text.replace("x >= 0", "x <= 0") for key, text in AT_ZERO.items()}
HOLE = "return np.where(x >= 0, grad_y, 0).astype(x.dtype)"


def trials_with_fate(
    report: MutationReport, fate: MutantFate = MutantFate.SURVIVED
) -> list[MutantTrial]:
    return [trial for trial in report.trials if trial.fate is fate]


def survivor(report: MutationReport) -> tuple[Mutant, Counterexample]:
    """Return the one mutant that the question wrongly accepts, and an input that shows it."""
    (trial,) = trials_with_fate(report)
    assert trial.counterexample is not None
    return trial.mutant, trial.counterexample


def page_text(report: MutationReport) -> str:
    """Return the page as text."""
    return "\n".join(map(without_styles, render_terminal(list(mutation_page(report)), 80)))


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that selects the mutants to try, by their new statements."""

    def choose(*statements: str) -> None:
        def chosen(mutants: Sequence[Mutant], at_most: int | None) -> list[Mutant]:
            return [mutant for mutant in mutants if mutant.becomes in statements]

        monkeypatch.setattr(mutant_trials, "sample_mutants", chosen)

    return choose


def test_a_hole_is_found_with_the_smallest_input_that_shows_it(tmp_path: Path) -> None:
    report = try_mutants(gate(tmp_path), seeds=[0])
    mutant, counterexample = survivor(report)
    assert (mutant.scope, mutant.line, mutant.becomes) == ("gate_backward", 6, HOLE)
    assert (counterexample.reach, counterexample.result) == (Reach.VALUES, "grad_x")
    assert "integers: [2]" in counterexample.inputs or "integers: [1]" in counterexample.inputs
    assert not report.ok
    killed = report.count(MutantFate.KILLED)
    assert report.score == killed / (killed + 1)
    assert sum(report.count(fate) for fate in MutantFate) == report.derived == len(report.trials)
    page = page_text(report)
    for text in (
        "SURVIVES gate_backward, line 6: another bound",
        f"- {AT_ZERO['was']}",
        f"+ {HOLE}",
        "differs on  the case with small whole numbers: signs, seed 700",
        "to do       add this case, and let gate look at it",
        "1 wrong mutant passes every check",
    ):
        assert text in page
    assert max(map(len, page.splitlines())) <= 80
    data: Any = json.loads(json.dumps(mutation_to_json(report)))
    assert data["tried"] == data["derived"] == len(data["mutants"])
    (row,) = [m for m in data["mutants"] if m["fate"] == "survived"]
    assert (data["survived"], row["in"], row["witness"]["case"]) == (1, "gate_backward", "signs")


def test_the_case_that_was_missing_kills_it(tmp_path: Path) -> None:
    report = try_mutants(gate(tmp_path, compared=ALL, zeros=ZEROS), seeds=range(2))
    assert report.ok
    assert report.score == 1.0
    assert report.count(MutantFate.EQUIVALENT) > 0  # np.where(...) of the right dtype needs no cast


def test_a_mutant_that_passes_on_some_seeds_is_flaky_and_a_problem(
    tmp_path: Path, only: Callable[..., None]
) -> None:
    only(HOLE)
    report = try_mutants(gate(tmp_path / "a", compared=ALL, zeros=RARE), seeds=range(10))
    (trial,) = report.trials
    assert (trial.fate, trial.killed_by) == (MutantFate.FLAKY, "gate")
    assert 0 < len(trial.passing_seeds) < 10
    assert trial.seed not in trial.passing_seeds
    share = f"{10 - len(trial.passing_seeds)} of 10 seeds"
    (problem,) = report.problems
    assert problem.startswith(
        "the mutant of gate_backward, line 6, that reads 'return np.where(x >"
    )
    assert f"is stopped on {share}, and passes every check on seed" in problem
    page = page_text(report)
    assert "FLAKY gate_backward, line 6: another bound" in page
    assert f"stopped on {share}, by gate" in page
    assert (report.score, mutation_to_json(report)["flaky"]) == (0.0, 1)
    explained = try_mutants(
        gate(tmp_path / "b", AT_ZERO, compared=ALL, zeros=RARE), seeds=range(10)
    )
    assert explained.ok
    assert explained.count(MutantFate.EXPLAINED) == 1


def test_a_case_that_no_check_compares_is_named(tmp_path: Path, only: Callable[..., None]) -> None:
    only(HOLE)
    _, counterexample = survivor(try_mutants(gate(tmp_path, zeros=ZEROS), seeds=range(2)))
    assert counterexample.reach is Reach.SAME
    assert counterexample.advice == "let gate look at zeros"


def test_more_draws_are_advised_for_a_case_that_a_check_already_compares(
    tmp_path: Path, only: Callable[..., None]
) -> None:
    only(HOLE)
    asked = gate(tmp_path, compared=ALL, zeros=RARE)
    (flaky,) = try_mutants(asked, seeds=range(10)).trials
    _, counterexample = survivor(try_mutants(asked, seeds=flaky.passing_seeds[:1]))
    assert counterexample.advice == "give zeros more draws, or numbers that are written"


CONTRACT = ["Up to 1,000 numbers are added up, of more the mean is taken."]
LONG = "def total(x):\n    return x.mean() if x.size >= 1001 else x.sum()\n"
BRANCHES = "def total(x):\n    if len(x) <= 1000:\n        return x.sum()\n    return x.mean()\n"
SIZES = {"few": 3, "many": 5000}
AT = {"at": 1000, "after": 1001, "more": 1500}


def totals(folder: Path, sizes: dict[str, int], **changes: Any) -> MutationReport:
    """Try the bounds of a question whose contract names a number."""
    named = question(
        folder, reference=LONG, begin="def total(x):\n    return x.sum()\n", variants={},
        contract=CONTRACT, run=["y = total(x)"], interface="def total(x)  # (N,) -> y",
        cases={name: {"x": {"uniform": [size]}} for name, size in sizes.items()},
        starter_holds=None,
        code={"accepted": f"# %% branches\n{BRANCHES}"}, **changes,
    )  # fmt: skip
    return try_mutants(named, seeds=[0])


def test_a_number_of_the_contract_needs_cases_at_it_and_on_both_sides(tmp_path: Path) -> None:
    bare = totals(tmp_path / "a", SIZES)
    alive = {(t.mutant.accepted_solution, t.mutant.becomes) for t in trials_with_fate(bare)}
    assert alive == {
        *(("", f"return x.mean() if x.size {one} else x.sum()")
          for one in (">= 1000", ">= 1002", ">= 500", ">= 2002", "> 1001")),
        *(("branches", f"if len(x) {one}:")
          for one in ("<= 999", "<= 1001", "<= 500", "<= 2000", "< 1000")),
    }  # fmt: skip
    assert "SURVIVES accepted/branches.total, line" in page_text(bare)
    assert "give it cases at this bound and on both sides" in page_text(bare)
    assert totals(tmp_path / "b", SIZES | AT).ok
    left = {
        "in": "accepted/branches.total", "was": "if len(x) <= 1000:",
        "becomes": "if len(x) <= 500:", "because": "It could be so.",
    }  # fmt: skip
    explained = totals(tmp_path / "c", SIZES, survivors=[left])
    assert [t.mutant.becomes for t in trials_with_fate(explained, MutantFate.EXPLAINED)] == [
        left["becomes"]
    ]


def test_the_layout_of_a_line_does_not_matter_for_its_explanation(tmp_path: Path) -> None:
    moved = BACKWARD.replace("    return np.where(x > 0,", "    return np.where(\n        x>0,")
    report = try_mutants(gate(tmp_path, AT_ZERO, reference=moved), seeds=range(2))
    assert report.ok
    assert report.score == 1.0
    assert [t.because for t in trials_with_fate(report, MutantFate.EXPLAINED)] == [
        AT_ZERO["because"]
    ]
    assert f"is explained: {AT_ZERO['because']}" in " ".join(page_text(report).split())


@pytest.mark.parametrize(
    ("written", "problem"),
    [(GONE, "no mutant of the reference matches"), (KILLED, "a check kills it")],
)
def test_a_stale_explanation_is_a_problem(
    tmp_path: Path, written: dict[str, str], problem: str
) -> None:
    report = try_mutants(gate(tmp_path, written), seeds=[0])
    assert any(
        problem in p and p.startswith("survivors[0] (gate_backward") for p in report.problems
    )


def test_a_mutant_that_hangs_is_killed_and_the_others_are_tried(
    tmp_path: Path, only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    only("n -= 1", HOLE)
    monkeypatch.setattr(
        mutant_trials, "MIN_MUTANT_CALL_SECONDS", 0.4
    )  # a call of the others takes a thousandth
    loop = "    n = 0\n    while n < 3:\n        n += 1\n    return np"
    report = try_mutants(
        gate(tmp_path, reference=BACKWARD.replace("    return np", loop)), seeds=[0]
    )
    assert [t.mutant.becomes for t in report.trials] == ["n -= 1", HOLE]
    assert [t.fate for t in report.trials] == [MutantFate.KILLED, MutantFate.SURVIVED]


def test_a_mutant_that_overran_on_a_busy_machine_is_searched_in_the_process_of_its_second_try(
    tmp_path: Path, only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    find_kill = mutant_trials._MutantTrier._find_kill
    tries: list[float] = []

    def find_kill_late(
        trier: mutant_trials._MutantTrier, evaluation: Evaluation, likely_killer: str = ""
    ) -> CheckResult | None:
        kill = find_kill(trier, evaluation, likely_killer)
        if evaluation.subject.name == mutant_trials.MUTANT_NAME:
            tries.append(evaluation.subject.call_seconds)
            if len(tries) == 1:
                evaluation.subject.worker.failure = LimitExceeded("took too long")
        return kill

    only(HOLE)
    question = gate(tmp_path)
    (usual,) = try_mutants(question, seeds=[0]).trials
    monkeypatch.setattr(mutant_trials._MutantTrier, "_find_kill", find_kill_late)
    (trial,) = try_mutants(question, seeds=[0]).trials
    assert tries[1] == pytest.approx(3 * tries[0])
    assert trial.counterexample == usual.counterexample


def test_a_reference_that_fails_its_own_checks_is_reported(tmp_path: Path) -> None:
    question = gate(tmp_path, reference=BACKWARD.replace("return", "x += 1\n    return"))
    manners = SideEffectsCheck(id="manners", kind="side-effects", of="grad_x")
    report = try_mutants(with_checks(question, [*question.spec.checks, manners]), seeds=[0])
    assert report.problems == ("the reference does not pass manners: audit it first",)
    assert not report.trials


def test_a_sample_is_the_same_each_time_and_part_of_a_larger_one() -> None:
    mutants = [Mutant("f", n, "rule", f"x = {n}", "x = 0", b"x = 0") for n in range(50)]
    few, more = sample_mutants(mutants, 5), sample_mutants(mutants, 20)
    assert len(few) == 5
    assert few == sample_mutants(list(mutants), 5)
    assert {m.line for m in few} < {m.line for m in more}
    assert [m.line for m in more] == sorted(m.line for m in more)
    assert sample_mutants(mutants, None) == sample_mutants(mutants, 99) == mutants


def test_mutants_tried_before_an_interrupt_are_reported(tmp_path: Path) -> None:
    steps: list[str] = []

    def impatient(line: str) -> None:
        steps.append(line)
        if len(steps) == 4:
            raise KeyboardInterrupt

    report = try_mutants(gate(tmp_path, KILLED), seeds=[0], progress=impatient)
    assert report.interrupted
    assert len(report.trials) == 3
    assert not any("a check kills it" in p for p in report.problems)  # nobody knows yet
    assert "of those tried before you stopped it" in " ".join(page_text(report).split())
    assert steps[0].startswith("gate: mutant 1 of ")


# -- further inputs --------------------------------------------------------------------------------

POOL = "x: {normal: [1, 1, 4, 4]}, grad_y: {normal: like y}"
LAYOUTS = ["fortran", "reversed"]
POOLING = """
pooled: {x: {normal: [2, 3, 7, 5]}, kernel: 2, stride: 2, padding: 0, grad_y: {normal: like y}}
padded: {x: {distinct: [2, 3, 7, 5], gap: 0.5}, kernel: 4, stride: 3, padding: 2, dtype: float32}
plain: {x: [[-1.0, 2.0, 3.0]], w: {normal: [3, 4]}, rate: 0.1}
classes: {z: {normal: [6, 4]}, target: {integers: [6], from: 0, to: 3, dtype: int64}, ignore: -1}
"""


def read(text: str) -> dict[str, CaseRecipe]:
    """Return the cases of a spec."""
    cases, faults = read_cases(yaml.safe_load(text))
    assert not faults
    return cases


def variants(name: str, reach: Reach) -> list[CaseRecipe]:
    """Return forty variants of one of the cases."""
    cases = read(POOLING)
    changed = [
        vary_case(cases[name], list(cases.values()), random.Random(n), reach, LAYOUTS)
        for n in range(40)
    ]
    return [case for case in changed if case is not None]


@pytest.mark.parametrize("reach", [Reach.VALUES, Reach.SIZES, Reach.NUMBERS])
@pytest.mark.parametrize("name", ["pooled", "padded", "plain", "classes"])
def test_a_variant_is_a_case_and_is_shown_as_it_would_be_written(name: str, reach: Reach) -> None:
    for case in variants(name, reach):
        again = read(f"{{again: {{{', '.join(format_inputs(case, case.inputs))}}}}}")["again"]
        assert (again.dtype, again.layout) == (case.dtype, case.layout)
        for recipe, read_recipe in zip(case.inputs.values(), again.inputs.values(), strict=True):
            assert (read_recipe.generator, read_recipe.shape) == (recipe.generator, recipe.shape)
            assert read_recipe.like == recipe.like
            assert read_recipe.literal == recipe.literal or recipe.generator not in (None, "array")


def test_sides_of_equal_length_stay_equal_and_written_ones_stay() -> None:
    for case in variants("classes", Reach.SIZES):
        z, target = case.inputs["z"], case.inputs["target"]
        assert z.shape is not None
        assert target.shape == z.shape[:1]
        assert target.option("to") <= z.shape[1] - 1 or z.shape[1] == 1
    beside = [c.inputs["w"].shape for c in variants("plain", Reach.SIZES)]  # x is written out
    assert all(shape is not None and shape[0] == 3 for shape in beside)
    assert len({c.inputs["z"].shape for c in variants("classes", Reach.SIZES)}) > 5


@pytest.fixture(scope="module")
def session() -> Iterator[GradingSession]:
    with (
        GradingSession(bank.load_question([ROOT], "maxpool-routing")) as opened,
        np.errstate(all="ignore"),
    ):
        yield opened


def test_inputs_keep_what_holds_in_every_case(session: GradingSession) -> None:
    evaluation = Evaluation(session.question, 1, session.bank.reference, session.bank.reference)
    domain = InputDomain(
        Evaluation(session.question, 1, session.bank.reference, session.bank.reference)
    )
    cases = read(
        f"inside: {{{POOL}, kernel: 4, stride: 3, padding: 2}}\n"
        f"outside: {{{POOL}, kernel: 3, stride: 3, padding: 2}}\n"
        f"misfit: {{{POOL.replace('like y', '[1, 1, 1, 1]')}, kernel: 2, stride: 2, padding: 0}}\n"
        f"nothing: {{{POOL}, kernel: 5, stride: 1, padding: 0}}\n"  # y has no rows
    )
    evaluation.cases = cases
    own = next(iter(domain._evaluation.cases))
    kept = {name: domain.contains(evaluation, "main", case, own) for name, case in cases.items()}
    assert kept == {"inside": True, "outside": False, "misfit": False, "nothing": False}
    # y is no result that a check of the run `twice` looks at; its shape is known all the same.
    fitting = f"{POOL}, x_other: {{normal: [1, 1, 4, 4]}}, kernel: 2, stride: 2, padding: 0"
    evaluation.cases = read(
        f"fits: {{{fitting}}}\nunfit: {{{fitting.replace('like y', '[1, 1, 1, 1]')}}}\n"
    )
    assert domain.contains(evaluation, "twice", evaluation.cases["fits"], "two-layers")
    assert not domain.contains(evaluation, "twice", evaluation.cases["unfit"], "two-layers")


def test_a_right_solution_differs_nowhere_and_a_wrong_one_somewhere(tmp_path: Path) -> None:
    right = b"def gate_backward(grad_y, x):\n    return (grad_y * (x > 0)).astype(x.dtype)\n"
    with GradingSession(gate(tmp_path)) as session:
        search = Search(session)
        same, other = (
            session.evaluate_bank_program(name, [source], 1).subject
            for name, source in (("right", right), ("wrong", right.replace(b">", b">=")))
        )
        assert search.find_counterexample(same) is None
        assert search.size > 30
        assert search.find_counterexample(other) is not None
