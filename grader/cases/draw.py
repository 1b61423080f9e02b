"""Draw a case's inputs from a seed.

Every random draw depends on the seed of the grade, the name of the case, the name of the input and
the number of the draw, and on nothing else: one case can be repeated without the others.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from grader.cases.recipe import FLOATS, CaseRecipe, Recipe, shape_source_chain
from grader.model.limits import MAX_CASE_ENTRIES

Array = np.ndarray[Any, np.dtype[Any]]
ShapeOf = Callable[[str, Mapping[str, Any]], tuple[int, ...]]


class DrawError(Exception):
    """An input cannot be drawn as written: the bank is at fault."""


def draw_inputs(
    case: CaseRecipe, seed: int, shape_of: ShapeOf, draw_index: int = 0
) -> dict[str, Any]:
    """Draw every input, by name in the order written: scalars as they are, arrays in their dtype.

    bfloat16 is held in float32.  `shape_of` gives the shape of a result of the reference from the
    inputs drawn so far; any `draw_index` but 0 gives fresh inputs of the same kind.

    Raises:
        DrawError: it cannot be drawn.
    """
    drawn: dict[str, Any] = {}
    entries = 0
    # Inputs shaped like a result wait for all others, and every one for what it is like.
    chains = {name: shape_source_chain(name, case.inputs) for name in case.inputs}
    for name in sorted(
        chains, key=lambda n: (any(c not in case.inputs for c in chains[n]), len(chains[n]))
    ):
        recipe = case.inputs[name]
        if not recipe.is_array:
            drawn[name] = recipe.literal
            continue
        shape = recipe.shape
        if recipe.like is not None:
            known = drawn.get(recipe.like)
            shape = known.shape if isinstance(known, np.ndarray) else shape_of(recipe.like, drawn)
        entries += math.prod(shape or ())
        if entries > MAX_CASE_ENTRIES:  # a result may be of any shape
            raise DrawError(
                f"its inputs have more than {MAX_CASE_ENTRIES:,} entries, {name} included"
            )
        drawn[name] = _array(recipe, case, shape, _rng(seed, case.name, name, draw_index))
    return {name: drawn[name] for name in case.inputs}


def _rng(seed: int, case: str, name: str, draw_index: int) -> np.random.Generator:
    text = f"{seed}/{case}/{name}/{draw_index}".encode()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text).digest()[:16], "little"))


def _array(
    recipe: Recipe, case: CaseRecipe, shape: tuple[int, ...] | None, rng: np.random.Generator
) -> Array:
    dtype = recipe.dtype or case.dtype
    if not shape and recipe.like and recipe.needs_axis:
        raise DrawError(f"{recipe.generator} needs at least one dimension; {recipe.like} has none")
    values = recipe.literal
    if recipe.generator != "array":
        values = _GENERATORS[recipe.generator or ""](shape or (), recipe.options, rng)
    values = np.asarray(values, np.float64)
    if (scale := recipe.option("scale")) is not None:
        values = values * scale
    if (shift := recipe.option("shift")) is not None:
        values = values + shift
    if (sprinkle := recipe.option("sprinkle")) is not None:
        values = np.where(rng.random(values.shape) < sprinkle["share"], sprinkle["value"], values)
    if recipe.option("sort"):
        values = np.sort(values, axis=-1)
    rounded = round_to_dtype(values, dtype)
    if (recipe.layout or case.layout) == "broadcast" and rounded.ndim and rounded.shape[0]:
        rounded = np.broadcast_to(rounded[:1], rounded.shape).copy()
    return rounded


Draw = Callable[[tuple[int, ...], Mapping[str, Any], np.random.Generator], Any]


def _distinct(shape: tuple[int, ...], given: Mapping[str, Any], rng: np.random.Generator) -> Array:
    size = math.prod(shape)
    steps = (rng.permutation(size) - (size - 1) / 2) * given.get("gap", 0.25)
    return np.asarray(steps.reshape(shape))


def _simplex(shape: tuple[int, ...], _: Mapping[str, Any], rng: np.random.Generator) -> Array:
    raw = np.exp(rng.standard_normal(shape))
    return np.asarray(raw / raw.sum(axis=-1, keepdims=True))


_GENERATORS: dict[str, Draw] = {
    "normal": lambda shape, _, rng: rng.standard_normal(shape),
    "uniform": lambda shape, given, rng: rng.uniform(
        given.get("from", 0.0), given.get("to", 1.0), shape
    ),
    "integers": lambda shape, given, rng: rng.integers(
        given["from"], given["to"], shape, endpoint=True
    ),
    "distinct": _distinct,
    "zeros": lambda shape, _, __: np.zeros(shape),
    "ones": lambda shape, _, __: np.ones(shape),
    "full": lambda shape, given, _: np.full(shape, float(given["value"])),
    "simplex": _simplex,
}


def round_to_dtype(values: Array, dtype: str) -> Array:
    """Round values to a dtype; bfloat16 (round to nearest even) is held in float32."""
    if dtype != "bfloat16":
        if dtype not in FLOATS and not np.all(np.isfinite(values)):
            raise DrawError(f"infinite values cannot be of dtype {dtype}")
        return np.asarray(values).astype(dtype)
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return (
        np.where(np.isfinite(values), rounded & np.uint32(0xFFFF0000), bits)
        .astype(np.uint32)
        .view(np.float32)
    )
