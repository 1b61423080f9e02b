"""The search varies cases within what they have in common, and finds nothing in right solutions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml

from grader import bank
from grader.audit.search import Search
from grader.cases.recipe import CaseRecipe, read_cases
from grader.cases.vary import varied, written
from grader.evaluation.evaluation import Evaluation
from grader.explain.further import Domain
from grader.model.mutation import Reach
from grader.session import GradingSession

pytestmark = pytest.mark.usefixtures("one_zygote")

ROOT = Path(__file__).parents[2]
POOL = "x: {normal: [1, 1, 4, 4]}, grad_y: {normal: like y}"
LAYOUTS = ["fortran", "reversed"]
POOLING = """
pooled: {x: {normal: [2, 3, 7, 5]}, kernel: 2, stride: 2, padding: 0, grad_y: {normal: like y}}
padded: {x: {distinct: [2, 3, 7, 5], gap: 0.5}, kernel: 4, stride: 3, padding: 2, dtype: float32}
plain: {x: [[-1.0, 2.0, 3.0]], w: {normal: [3, 4]}, rate: 0.1}
classes: {z: {normal: [6, 4]}, target: {integers: [6], from: 0, to: 3, dtype: int64}, ignore: -1}
"""


def read(text: str) -> dict[str, CaseRecipe]:
    """Cases as a spec writes them."""
    cases, faults = read_cases(yaml.safe_load(text))
    assert not faults
    return cases


def variants(name: str, reach: Reach) -> list[CaseRecipe]:
    """Forty variants of one of the cases."""
    cases = read(POOLING)
    made = [
        varied(cases[name], list(cases.values()), random.Random(n), reach, LAYOUTS)
        for n in range(40)
    ]
    return [case for case in made if case is not None]


@pytest.mark.parametrize("reach", [Reach.VALUES, Reach.SIZES, Reach.NUMBERS])
@pytest.mark.parametrize("name", ["pooled", "padded", "plain", "classes"])
def test_a_variant_is_a_case_and_is_shown_as_it_would_be_written(name: str, reach: Reach) -> None:
    for case in variants(name, reach):
        text = f"{{again: {{{', '.join(written(case, case.inputs))}}}}}"
        again = read(text)["again"]
        assert (again.dtype, again.layout) == (case.dtype, case.layout)
        for key, recipe in case.inputs.items():
            other = again.inputs[key]
            assert (other.generator, other.shape, other.like) == (
                recipe.generator,
                recipe.shape,
                recipe.like,
            )
            assert other.literal == recipe.literal or recipe.generator not in (None, "array")


def test_sides_of_equal_length_stay_equal_and_written_ones_stay() -> None:
    for case in variants("classes", Reach.SIZES):
        z, target = case.inputs["z"], case.inputs["target"]
        assert z.shape is not None
        assert target.shape == z.shape[:1]
        assert target.option("to") <= z.shape[1] - 1 or z.shape[1] == 1
    beside = [c.inputs["w"].shape for c in variants("plain", Reach.SIZES)]  # x is written out
    assert all(shape is not None and shape[0] == 3 for shape in beside)
    assert len({c.inputs["z"].shape for c in variants("classes", Reach.SIZES)}) > 5


def test_what_is_drawn_with_a_purpose_keeps_its_generator() -> None:
    assert not variants("padded", Reach.VALUES)
    assert all(c.inputs["x"].generator == "integers" for c in variants("pooled", Reach.VALUES))
    assert all(c.inputs["target"].option("to") == 3 for c in variants("classes", Reach.VALUES))


@pytest.fixture(scope="module")
def session() -> Iterator[GradingSession]:
    with GradingSession(bank.load([ROOT], "maxpool-routing")) as opened, np.errstate(all="ignore"):
        yield opened


@pytest.fixture(scope="module")
def search(session: GradingSession) -> Search:
    return Search(session)


def test_what_every_case_keeps_is_taken_to_be_meant(session: GradingSession) -> None:
    evaluation = Evaluation(session.question, 1, session.bank.reference, session.bank.reference)
    domain = Domain(Evaluation(session.question, 1, session.bank.reference, session.bank.reference))
    cases = read(
        f"inside: {{{POOL}, kernel: 4, stride: 3, padding: 2}}\n"
        f"outside: {{{POOL}, kernel: 3, stride: 3, padding: 2}}\n"
        f"misfit: {{{POOL.replace('like y', '[1, 1, 1, 1]')}, kernel: 2, stride: 2, padding: 0}}\n"
        f"nothing: {{{POOL}, kernel: 5, stride: 1, padding: 0}}\n"  # y has no rows
    )
    evaluation.cases = cases
    own = next(iter(domain._evaluation.cases))
    kept = {name: domain.holds(evaluation, "main", case, own) for name, case in cases.items()}
    assert kept == {"inside": True, "outside": False, "misfit": False, "nothing": False}
    # y is no result that a check of the run `twice` looks at; its shape is known all the same.
    fitting = f"{POOL}, x_other: {{normal: [1, 1, 4, 4]}}, kernel: 2, stride: 2, padding: 0"
    evaluation.cases = read(
        f"fits: {{{fitting}}}\nunfit: {{{fitting.replace('like y', '[1, 1, 1, 1]')}}}\n"
    )
    assert domain.holds(evaluation, "twice", evaluation.cases["fits"], "two-layers")
    assert not domain.holds(evaluation, "twice", evaluation.cases["unfit"], "two-layers")


def test_a_right_solution_differs_nowhere(session: GradingSession, search: Search) -> None:
    path = ROOT / "tests" / "solutions" / "maxpool-routing" / "right" / "float64_inside.py"
    program = session.examine("right", [path.read_bytes()], 1).submission
    assert search.difference(program) is None
    assert search.size > 500
