"""Inputs as a program takes them: in the dtypes of a mode, in a layout, as arrays or tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe
from grader.evaluation.results import Value
from grader.model.question import Question
from grader.sandbox.worker.wire import Tensor

NATIVE, PRECISE = "native", "precise"  # the case's own dtypes, or float64 throughout
# Every value moved by one unit in its last place, up or down at random, then float64.
NUDGES = ("nudge-1", "nudge-2", "nudge-3", "nudge-4")


def encoded(
    question: Question,
    case: CaseRecipe,
    name: str,
    value: Value,
    mode: str = NATIVE,
    layout: str | None = None,
) -> dict[str, Any]:
    """One input of a case as a program takes it: the fields of a `messages.Input`."""
    if not isinstance(value, np.ndarray):
        return {"value": value}
    recipe = case.inputs[name]
    dtype = recipe.dtype or case.dtype
    floating = dtype in {"float32", "float64", "bfloat16"}
    if mode != NATIVE and floating:
        value = nudged(value, dtype, NUDGES.index(mode)) if mode in NUDGES else value
        value, dtype = value.astype(np.float64), "float64"
    spec: dict[str, Any] = {
        "value": Tensor(value, dtype) if dtype == "bfloat16" else value,
        "layout": layout or recipe.layout or case.layout,
    }
    if question.spec.needs_torch:
        frozen = name in case.frozen or name.startswith("grad_")
        spec |= {"tensor": True, "grad": floating and not frozen}
    return spec


def nudged(value: Array, dtype: str, which: int) -> Array:
    """Move every value by one unit in the last place of its dtype, equal values alike.

    Equal values stay equal and neighbours keep their order, so that a tie or an order that the
    question is about is not disturbed: what is measured is rounding alone.
    """
    unique, inverse = np.unique(value, return_inverse=True)
    size = np.abs(unique)
    unit = size * 2.0**-8 if dtype == "bfloat16" else np.spacing(size)
    # Values that could meet or cross if one went up and the other down move the same way.
    apart = ~(np.diff(unique) <= 2 * np.maximum(unit[1:], unit[:-1]))
    group = np.concatenate([[0], np.cumsum(apart)])[: unique.size].astype(np.int64)
    signs = np.random.default_rng([which, unique.size]).choice([-1.0, 1.0], unique.size)[group]
    if dtype == "bfloat16":
        moved = unique * (1 + signs * 2.0**-8)
    else:
        moved = np.nextafter(unique, np.copysign(np.inf, signs).astype(unique.dtype))
    stays = ~np.isfinite(unique) | ~np.isfinite(moved) | (unique == 0)
    moved = np.where(stays, unique, moved)
    return np.asarray(moved[inverse].reshape(value.shape), value.dtype)
