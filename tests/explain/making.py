"""Files to grade, and observations made of arrays, as if a submission had given them."""

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
from tests.asking import ROOT

Array = np.ndarray[Any, np.dtype[Any]]
Grade = Callable[..., Report]  # of a question's id and a file
SHAPES = ((2, 3), (4, 2), (3, 5), (1, 4))


@functools.cache
def load(question_id: str) -> Question:
    """A question of this repository, or one for tests."""
    return bank.load([ROOT, ROOT / "tests" / "banks" / "mini"], question_id)


def changed(question_id: str, over: str | bytes) -> bytes:
    """The reference with other functions executed on top of it."""
    layer = over.encode() if isinstance(over, str) else over
    return load(question_id).reference + b"\n\n" + layer


def solution(question_id: str, name: str) -> bytes:
    """A wrong solution of the corpus."""
    return (ROOT / "tests" / "solutions" / question_id / "wrong" / f"{name}.py").read_bytes()


def seen(returned: object, right: object, *, ok: bool = False, **given: object) -> Observation:
    """An observation of a result `y`, of a case made from itself."""
    made = Observation(
        "main",
        "y",
        "case",
        "case",
        is_own_case=True,
        returned=returned,
        expected_value=right,
        is_right=ok,
    )
    made.input_values = given or {"x": right}
    return made


def drawn(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Numbers that nothing coincides with."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def failing(
    wrong: Callable[[Array], object], shapes: Sequence[tuple[int, ...]] = SHAPES
) -> list[Observation]:
    """Observations of a result that is what a function makes of the right one."""
    return [seen(wrong(b), b, x=np.zeros(b.shape)) for b in map(drawn, shapes)]


def said(wrong: Sequence[Observation], right: Sequence[Observation] = ()) -> list[str]:
    """What the rules say of failing observations, the most informative first."""
    rules = confirmed_rules(propose_rules(wrong), wrong)
    return [rule.text for rule in rules if not is_refuted(rule, right)]
