"""Cells made of arrays, as if a submission had given them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from grader.explain.cells import Cell
from grader.explain.explain import PROPOSALS
from grader.explain.rules import confirmed, is_refuted, surviving

Array = np.ndarray[Any, np.dtype[Any]]
SHAPES = ((2, 3), (4, 2), (3, 5), (1, 4))


def cell(got: object, want: object, *, ok: bool = False, **given: object) -> Cell:
    """A cell of a result `y`; the case is named after nothing, and made from itself."""
    made = Cell("main", "y", "case", "case", own=True, got=got, want=want, ok=ok)
    made.given = given or {"x": want}
    return made


def drawn(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Numbers that nothing coincides with."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def failing(
    wrong: Callable[[Array], object], shapes: Sequence[tuple[int, ...]] = SHAPES
) -> list[Cell]:
    """Cells on which a result is what a function makes of the right one."""
    return [cell(wrong(b), b, x=np.zeros(b.shape)) for b in map(drawn, shapes)]


def said(wrong: Sequence[Cell], right: Sequence[Cell] = ()) -> list[str]:
    """What the rules say of failing cells, the most telling first."""
    rules = confirmed(surviving(PROPOSALS, wrong), wrong)
    return [rule.text for rule in rules if not is_refuted(rule, right)]
