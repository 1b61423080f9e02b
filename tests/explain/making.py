"""Make files to grade, and observations of arrays as if a submission had returned them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from grader import bank
from grader.explain.observation import Observation
from grader.explain.rules import confirmed_rules, is_refuted, propose_rules
from grader.model.question import Question
from grader.model.report import Report
from tests import corpus
from tests.asking import ROOT

Array = np.ndarray[Any, np.dtype[Any]]
Grade = Callable[..., Report]  # takes the id of a question and a file
SHAPES = ((2, 3), (4, 2), (3, 5), (1, 4))


@functools.cache
def load(question_id: str) -> Question:
    """Load a question of this repository, or one for tests."""
    return bank.load_question([ROOT, ROOT / "tests" / "banks" / "mini"], question_id)


def reference_with(question_id: str, over: str | bytes) -> bytes:
    """Return the reference with other functions on top of it."""
    layer = over.encode() if isinstance(over, str) else over
    return load(question_id).reference + b"\n\n" + layer


def solution(question_id: str, name: str) -> bytes:
    """Return a wrong solution of the corpus."""
    return corpus.wrong_programs(question_id)[name].source


def observe(
    returned: object, right: object, *, is_right: bool = False, **inputs: object
) -> Observation:
    """Return an observation of a result `y` on a case of the question."""
    observation = Observation(
        run="main",
        result="y",
        case="case",
        origin="case",
        returned=returned,
        expected_value=right,
        is_right=is_right,
    )
    observation.input_values = inputs or {"x": right}
    return observation


def draw(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Return random numbers, which equal nothing else by chance."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def make_failing(
    wrong: Callable[[Array], object], shapes: Sequence[tuple[int, ...]] = SHAPES
) -> list[Observation]:
    """Return observations of a wrong result that a function computes from the right one."""
    return [observe(wrong(b), b, x=np.zeros(b.shape)) for b in map(draw, shapes)]


def rule_texts(wrong: Sequence[Observation], right: Sequence[Observation] = ()) -> list[str]:
    """Return the texts of the rules that hold, those that say most first."""
    rules = confirmed_rules(propose_rules(wrong), wrong)
    return [rule.text for rule in rules if not is_refuted(rule, right)]
