"""Draw a case's inputs from a seed.

A random draw depends only on the seed of the grade, the name of the case, the name of the input and
the number of the draw: one case can be repeated without the others.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng

from grader.cases.recipe import FLOATS, CaseRecipe, Recipe, shape_source_chain
from grader.model.limits import MAX_CASE_ENTRIES

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]
ShapeOf = Callable[[str, Mapping[str, Any]], Shape]


class DrawError(Exception):
    """An input cannot be drawn as written: the bank is at fault."""


def draw_inputs(
    case: CaseRecipe, seed: int, shape_of: ShapeOf, draw_index: int = 0
) -> dict[str, Any]:
    """Draw every input: scalars as they are, arrays in their dtype (bfloat16 as float32).

    Args:
        case: The case.  The inputs are returned in its order.
        seed: The seed of the grade.
        shape_of: Takes the name of a result and the inputs drawn so far, and returns the shape
            that the result has in the reference.
        draw_index: 0 for the inputs of the grade; each other number gives fresh ones.

    Raises:
        DrawError: an input cannot be drawn.
    """
    drawn: dict[str, Any] = {}
    total_entries = 0
    for name in _drawing_order(case):
        recipe = case.inputs[name]
        if not recipe.is_array:
            drawn[name] = recipe.literal
            continue
        shape = recipe.shape
        if recipe.like is not None:
            shape_source = drawn.get(recipe.like)
            if isinstance(shape_source, np.ndarray):
                shape = shape_source.shape
            else:
                shape = shape_of(recipe.like, drawn)
        total_entries += math.prod(shape or ())
        if total_entries > MAX_CASE_ENTRIES:  # a result may be of any shape
            raise DrawError(
                f"its inputs have more than {MAX_CASE_ENTRIES:,} entries, {name} included"
            )
        rng = _rng(seed, case.name, name, draw_index)
        drawn[name] = _draw_array(recipe, case, shape, rng)
    return {name: drawn[name] for name in case.inputs}


def _drawing_order(case: CaseRecipe) -> list[str]:
    """Return the names in an order in which each input can be drawn.

    An input that is `like` another comes after it.  Inputs that are like a result come last,
    because the reference computes it from the inputs drawn before.
    """

    def rank(name: str) -> tuple[bool, int]:
        chain = shape_source_chain(name, case.inputs)
        needs_result = any(source not in case.inputs for source in chain)
        return needs_result, len(chain)

    return sorted(case.inputs, key=rank)


def _rng(seed: int, case: str, name: str, draw_index: int) -> Generator:
    text = f"{seed}/{case}/{name}/{draw_index}".encode()
    digest = hashlib.sha256(text).digest()
    return default_rng(int.from_bytes(digest[:16], "little"))


def _draw_array(recipe: Recipe, case: CaseRecipe, shape: Shape | None, rng: Generator) -> Array:
    if not shape and recipe.like and recipe.needs_axis:
        raise DrawError(f"{recipe.generator} needs at least one dimension; {recipe.like} has none")
    values = np.asarray(_generate(recipe, shape or (), rng), np.float64)
    values = _modify(values, recipe, rng)
    rounded = round_to_dtype(values, recipe.dtype or case.dtype)
    layout = recipe.layout or case.layout
    if layout == "broadcast" and rounded.ndim and rounded.shape[0]:
        return np.broadcast_to(rounded[:1], rounded.shape).copy()
    return rounded


def _modify(values: Array, recipe: Recipe, rng: Generator) -> Array:
    """Apply the modifiers scale, shift, sprinkle and sort of an input, in this order."""
    values = values * recipe.options.get("scale", 1)
    if "shift" in recipe.options:  # adding 0 would change -0.0
        values = values + recipe.options["shift"]
    if sprinkle := recipe.option("sprinkle"):
        is_replaced = rng.random(values.shape) < sprinkle["share"]
        values = np.where(is_replaced, sprinkle["value"], values)
    if recipe.option("sort"):
        values = np.sort(values, axis=-1)
    return values


def _generate(recipe: Recipe, shape: Shape, rng: Generator) -> Any:  # noqa: ANN401 an array
    """Return the values of an input before its modifiers are applied."""
    options = recipe.options
    match recipe.generator:
        case "array":
            return recipe.literal
        case "normal":
            return rng.standard_normal(shape)
        case "uniform":
            return rng.uniform(options.get("from", 0.0), options.get("to", 1.0), shape)
        case "integers":
            return rng.integers(options["from"], options["to"], shape, endpoint=True)
        case "distinct":
            size = math.prod(shape)
            steps = rng.permutation(size) - (size - 1) / 2
            return steps.reshape(shape) * options.get("gap", 0.25)
        case "zeros":
            return np.zeros(shape)
        case "ones":
            return np.ones(shape)
        case "full":
            return np.full(shape, float(options["value"]))
        case _:  # simplex
            positive = np.exp(rng.standard_normal(shape))
            return positive / positive.sum(axis=-1, keepdims=True)


def round_to_dtype(values: Array, dtype: str) -> Array:
    """Round values to a dtype.  For bfloat16 (round to nearest even) the result is float32.

    Raises:
        DrawError: a value is infinite or NaN, and the dtype has only whole numbers.
    """
    if dtype != "bfloat16":
        if dtype not in FLOATS and not np.all(np.isfinite(values)):
            raise DrawError(f"infinite values cannot be of dtype {dtype}")
        return np.asarray(values).astype(dtype)
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    rounded &= np.uint32(0xFFFF0000)
    bits = np.where(np.isfinite(values), rounded, bits).astype(np.uint32)
    return bits.view(np.float32)
