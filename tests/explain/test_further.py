"""Further inputs are other inputs that the reference takes, and the same each time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.cases.recipe import CaseRecipe, free_names
from grader.evaluation.evaluation import Evaluation
from grader.explain.further import Further, content
from grader.session import GradingSession
from tests.explain.making import load

pytestmark = pytest.mark.usefixtures("one_zygote")


@pytest.fixture(scope="module")
def evaluation() -> Iterator[Evaluation]:
    with GradingSession(load("deviations")) as session:
        yield session.bank.evaluation(session.bank.reference, 3)


def inputs(further: Further, **most: int) -> list[CaseRecipe]:
    return [case for case, _ in further.of("main", most)]


def test_they_are_new_inputs_each_once(evaluation: Evaluation) -> None:
    further = Further(evaluation)
    found, names = inputs(further, small=6, rows=8), list(free_names(evaluation.steps("main")))
    contents = [content(further.evaluation, case, names) for case in found]
    own = [content(evaluation, case, names) for case in evaluation.cases.values()]
    assert len(found) > 10
    assert len({*contents, *own}) == len(contents) + len(own)
    for case in found:  # a gradient has the shape of its result
        drawn = further.evaluation.drawn(case)
        assert drawn["x"].shape == drawn["w"].shape == drawn["grad_y"].shape


def test_what_is_written_out_gets_siblings_of_other_shapes(evaluation: Evaluation) -> None:
    further, x = Further(evaluation), evaluation.drawn(evaluation.cases["small"])["x"]
    drawn = {case.name: further.evaluation.drawn(case)["x"] for case in inputs(further, small=6)}
    assert {(2, 3), (3, 4)} <= {one.shape for one in drawn.values()}
    for case, _ in further.of("total", {"small": 8}):  # and is never drawn again as it is
        one, plain = further.evaluation.drawn(case)["x"], case.layout == "contiguous"
        other = one.shape != x.shape or bool((one != x).any())
        assert other or case.dtype != "float64" or not plain


def test_the_same_ones_come_again_whatever_was_asked_before(evaluation: Evaluation) -> None:
    one, other = Further(evaluation), Further(evaluation)
    inputs(other, rows=2)
    assert inputs(one, rows=5) == inputs(other, rows=5) != []
