"""Further inputs are other inputs that the reference takes, and the same each time."""

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
        yield session.bank.new_evaluation(session.bank.reference, 3)


def inputs(further: ExtraCases, **most: int) -> list[CaseRecipe]:
    return [case for case, _ in further.made_for("main", most)]


def test_they_are_new_inputs_each_once(evaluation: Evaluation) -> None:
    further = ExtraCases(evaluation)
    found, names = inputs(further, small=6, rows=8), list(run_inputs(evaluation.steps("main")))
    contents = [input_fingerprint(further.evaluation, case, names) for case in found]
    own = [input_fingerprint(evaluation, case, names) for case in evaluation.cases.values()]
    assert len(found) > 10
    assert len({*contents, *own}) == len(contents) + len(own)
    for case in found:  # a gradient has the shape of its result
        drawn = further.evaluation.drawn_inputs(case)
        assert drawn["x"].shape == drawn["w"].shape == drawn["grad_y"].shape


def test_what_is_written_out_gets_siblings_of_other_shapes(evaluation: Evaluation) -> None:
    further, x = ExtraCases(evaluation), evaluation.drawn_inputs(evaluation.cases["small"])["x"]
    drawn = {
        case.name: further.evaluation.drawn_inputs(case)["x"] for case in inputs(further, small=6)
    }
    assert {(2, 3), (3, 4)} <= {one.shape for one in drawn.values()}
    for case, _ in further.made_for("total", {"small": 8}):  # and is never drawn again as it is
        one, plain = further.evaluation.drawn_inputs(case)["x"], case.layout == "contiguous"
        other = one.shape != x.shape or bool((one != x).any())
        assert other or case.dtype != "float64" or not plain


def test_the_same_ones_come_again_whatever_was_asked_before(evaluation: Evaluation) -> None:
    one, other = ExtraCases(evaluation), ExtraCases(evaluation)
    inputs(other, rows=2)
    assert inputs(one, rows=5) == inputs(other, rows=5) != []
