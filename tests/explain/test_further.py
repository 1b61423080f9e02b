"""Further inputs are other inputs that the reference takes, and the same each time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import bank
from grader.cases.recipe import CaseRecipe, free_names
from grader.evaluation.evaluation import Evaluation
from grader.explain.further import Further, content
from grader.session import GradingSession

pytestmark = pytest.mark.usefixtures("one_zygote")

QUESTION = bank.load([Path(__file__).parents[1] / "banks" / "mini"], "deviations")


@pytest.fixture(scope="module")
def evaluation() -> Iterator[Evaluation]:
    with GradingSession(QUESTION) as session:
        yield session.bank.evaluation(session.bank.reference, 3)


def inputs(further: Further, **most: int) -> list[tuple[CaseRecipe, str]]:
    return further.of("main", most)


def test_they_are_new_inputs_each_once(evaluation: Evaluation) -> None:
    further = Further(evaluation)
    found = inputs(further, small=6, rows=8)
    names = list(free_names(evaluation.steps("main")))
    contents = [content(further.evaluation, case, names) for case, _ in found]
    own = [content(evaluation, case, names) for case in evaluation.cases.values()]
    assert len(found) > 10
    assert len({*contents, *own}) == len(contents) + len(own)


def test_what_is_written_out_is_never_drawn_again_as_it_is(evaluation: Evaluation) -> None:
    further = Further(evaluation)
    x = evaluation.drawn(evaluation.cases["small"])["x"]
    found = further.of("total", {"small": 8})
    assert found
    for case, _ in found:
        drawn, plain = further.evaluation.drawn(case)["x"], case.layout == "contiguous"
        other = drawn.shape != x.shape or bool((drawn != x).any())
        assert other or case.dtype != "float64" or not plain


def test_one_that_is_written_out_gets_siblings_of_other_shapes(evaluation: Evaluation) -> None:
    further = Further(evaluation)
    shapes = {further.evaluation.drawn(case)["x"].shape for case, _ in inputs(further, small=6)}
    assert {(2, 3), (3, 4)} <= shapes


def test_the_same_ones_come_again_whatever_was_asked_before(evaluation: Evaluation) -> None:
    one, other = Further(evaluation), Further(evaluation)
    inputs(other, rows=2)
    assert [c.name for c, _ in inputs(one, rows=5)] == [c.name for c, _ in inputs(other, rows=5)]


def test_results_and_their_gradients_keep_one_shape(evaluation: Evaluation) -> None:
    further = Further(evaluation)
    for case, _ in inputs(further, small=6, rows=8):
        drawn = further.evaluation.drawn(case)
        assert drawn["x"].shape == drawn["w"].shape == drawn["grad_y"].shape
