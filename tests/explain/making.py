"""Observations made of arrays, as if a submission had given them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from grader.explain.observation import Observation
from grader.explain.rules import confirmed, is_refuted, propose

Array = np.ndarray[Any, np.dtype[Any]]
SHAPES = ((2, 3), (4, 2), (3, 5), (1, 4))


def seen(returned: object, right: object, *, ok: bool = False, **given: object) -> Observation:
    """An observation of a result `y`, of a case made from itself."""
    made = Observation("main", "y", "case", "case", own=True, returned=returned, right=right, ok=ok)
    made.given = given or {"x": right}
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
    rules = confirmed(propose(wrong), wrong)
    return [rule.text for rule in rules if not is_refuted(rule, right)]
