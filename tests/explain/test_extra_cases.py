"""Extra inputs are new inputs that the reference accepts, and the same each time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.cases.recipe import CaseRecipe, run_inputs
from grader.explain.extra_cases import ExtraCases, input_fingerprint
from grader.explain.session import GradingSession
from grader.grading.evaluation import Evaluation
from tests.explain.making import load

pytestmark = pytest.mark.usefixtures("one_zygote")


@pytest.fixture(scope="module")
def evaluation() -> Iterator[Evaluation]:
    with GradingSession(load("deviations")) as session:
        yield session.new_evaluation(session.bank.reference, 3)


def extra_inputs(extra: ExtraCases, **counts: int) -> list[CaseRecipe]:
    return extra.made_for("main", counts)


def test_extra_inputs_are_new_and_distinct(evaluation: Evaluation) -> None:
    extra = ExtraCases(evaluation)
    cases = extra_inputs(extra, small=6, rows=8)
    names = list(run_inputs(evaluation.steps("main")))
    contents = [input_fingerprint(extra.evaluation, case, names) for case in cases]
    own = [input_fingerprint(evaluation, case, names) for case in evaluation.cases.values()]
    assert len(cases) > 10
    assert len({*contents, *own}) == len(contents) + len(own)
    for case in cases:  # a gradient has the shape of its result
        drawn = extra.evaluation.drawn_inputs(case)
        assert drawn["x"].shape == drawn["w"].shape == drawn["grad_y"].shape


def test_a_case_written_out_gets_variations_of_other_shapes(evaluation: Evaluation) -> None:
    extra = ExtraCases(evaluation)
    own = evaluation.drawn_inputs(evaluation.cases["small"])["x"]
    cases = extra_inputs(extra, small=6)
    assert {(2, 3), (3, 4)} <= {extra.evaluation.drawn_inputs(c)["x"].shape for c in cases}
    for case in extra.made_for("total", {"small": 8}):
        x = extra.evaluation.drawn_inputs(case)["x"]
        has_other_numbers = x.shape != own.shape or bool((x != own).any())
        has_other_form = case.dtype != "float64" or case.layout != "contiguous"
        assert has_other_numbers or has_other_form


def test_earlier_requests_do_not_change_extra_inputs(evaluation: Evaluation) -> None:
    first = ExtraCases(evaluation)
    second = ExtraCases(evaluation)
    extra_inputs(second, rows=2)
    assert extra_inputs(first, rows=5) == extra_inputs(second, rows=5) != []
