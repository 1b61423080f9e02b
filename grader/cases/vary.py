"""Vary a case: other sizes and numbers, within the limits that the question's cases show.

An author wrote the cases; other inputs show if a statement holds beyond them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import yaml

from grader.cases.recipe import FLOATS, CaseRecipe, Recipe, is_number
from grader.model.mutants import Reach

MAX_RESIZED_SIDE = 9  # no side grows beyond this


def vary_case(
    case: CaseRecipe,
    cases: Sequence[CaseRecipe],
    rng: random.Random,
    reach: Reach,
    layouts: Sequence[str],
) -> CaseRecipe | None:
    """Return a random variation of a case, or None if nothing changes.

    Args:
        case: The case to vary.
        cases: All cases of the question, which show the allowed numbers and dtypes.
        rng: The only source of chance.
        reach: The allowed changes: only values; sizes, dtype and layout; or scalars as well.
        layouts: The layouts that the question allows.
    """
    varied = case
    if reach is Reach.VALUES or rng.random() < 0.25:
        inputs = {name: with_small_integers(recipe) for name, recipe in case.inputs.items()}
        varied = replace(case, inputs=inputs)
    if reach is not Reach.VALUES:
        varied = with_side_lengths(varied, _choose_lengths(case, rng))
        if reach is Reach.NUMBERS:
            varied = _with_other_scalars(varied, cases, rng)
        dtypes = {other.dtype for other in cases if other.inputs.keys() == case.inputs.keys()}
        dtype = rng.choice([case.dtype, *sorted(dtypes)])
        layout = case.layout
        if layout == "contiguous" and not any(recipe.layout for recipe in varied.inputs.values()):
            layout = rng.choice(["contiguous", "contiguous", *layouts])
        varied = replace(varied, dtype=dtype, layout=layout)
    return None if varied == case else varied


def _choose_lengths(case: CaseRecipe, rng: random.Random) -> dict[int, int]:
    """Return a random new length for every side length that may change; some stay."""
    lengths = {}
    for length in sorted(variable_side_lengths(case)):
        shorter = max(1, length - 1)
        longer = length + 1
        new_length = rng.choice([1, 2, 3, shorter, longer, length])
        lengths[length] = min(new_length, max(length, MAX_RESIZED_SIDE))
    return lengths


def resized_case(case: CaseRecipe, growth: int, *, fixed: int = 0) -> CaseRecipe | None:
    """Return a case with larger arrays, where a random one replaces each array written out.

    Each side grows by `growth`, unless it is at most `fixed`; so equal sides stay equal.  Returns
    None if no array is written out, or if one has an entry that is not finite.
    """
    entries = 0  # that are written out
    inputs = {}
    for name, recipe in case.inputs.items():
        drawn = recipe
        if recipe.generator == "array":
            literal = np.asarray(recipe.literal, np.float64)
            if not np.isfinite(literal).all():
                return None
            entries += literal.size
            drawn = _drawn_like(recipe, literal)
        lengths = tuple(n if n <= fixed else n + growth for n in drawn.shape or ())
        inputs[name] = replace(drawn, shape=drawn.shape and lengths)
    return replace(case, inputs=inputs) if entries else None


def _drawn_like(recipe: Recipe, literal: np.ndarray[Any, Any]) -> Recipe:
    """Return a random input of the same shape for an array that is written out (`literal`).

    Integers have the range of the entries; other numbers are normal if one is below 0, otherwise
    uniform from 0 to 1, or to the largest entry if that is larger.
    """
    low = float(literal.min(initial=0.0))
    high = float(literal.max(initial=1.0))
    generator = "uniform"
    options: dict[str, float] = {"from": low, "to": high}
    if _has_integer_dtype(recipe) and literal.size:  # if all are 1 or more, 0 may not be allowed
        generator = "integers"
        options = {"from": int(literal.min()), "to": int(literal.max())}
    elif low < 0:
        generator = "normal"
        options = {}
    return replace(recipe, generator=generator, literal=None, shape=literal.shape, options=options)


def with_small_integers(recipe: Recipe) -> Recipe:
    """Replace arbitrary numbers by integers from -2 to 2, with zeros and ties among them.

    Inputs drawn with a purpose stay: probabilities, classes, distinct values, bounded values.
    """
    if _has_integer_dtype(recipe) or recipe.option("sprinkle") or recipe.option("sort"):
        return recipe
    shape = recipe.shape
    if recipe.generator == "array":
        entries = np.asarray(recipe.literal)
        has_both_signs = (entries < 0).any() and (entries > 0).any()
        if not has_both_signs or not np.isfinite(entries).all():
            return recipe
        shape = entries.shape
    elif recipe.generator != "normal":
        return recipe
    options = {"from": -2, "to": 2}
    return replace(recipe, generator="integers", literal=None, shape=shape, options=options)


def format_inputs(case: CaseRecipe, names: Collection[str]) -> list[str]:
    """Return lines of YAML, as a spec has them: the named inputs, then dtype and layout if set."""
    values = {}
    for name, recipe in case.inputs.items():
        if name in names:
            values[name] = _to_yaml(recipe)
    if case.dtype != "float64":
        values["dtype"] = case.dtype
    if case.layout != "contiguous":
        values["layout"] = case.layout
    lines = []
    for name, value in values.items():
        braced = yaml.safe_dump(
            {name: value}, default_flow_style=True, sort_keys=False, width=math.inf
        )
        lines.append(braced.strip()[1:-1])  # {x: {normal: [2, 3]}} without its outer braces
    return lines


def with_side_lengths(case: CaseRecipe, lengths: Mapping[int, int]) -> CaseRecipe:
    """Return the case with other side lengths in every input; `lengths` maps old to new."""
    inputs = {name: _resize(recipe, lengths) for name, recipe in case.inputs.items()}
    return replace(case, inputs=inputs)


def variable_side_lengths(case: CaseRecipe) -> set[int]:
    """Return every side length that may change; sides of equal length change together.

    An array that is written out keeps its sides, so no side of such a length changes.
    """
    drawn_lengths: set[int] = set()
    fixed_lengths = {0}
    for recipe in case.inputs.values():
        drawn_lengths.update(recipe.shape or ())
        if recipe.generator == "array":
            fixed_lengths.update(np.shape(recipe.literal))
    return drawn_lengths - fixed_lengths


def _resize(recipe: Recipe, lengths: Mapping[int, int]) -> Recipe:
    options = dict(recipe.options)
    last_class = options.get("to")
    # Class numbers end at one below a size: if that size changes, so does the last class.
    is_class = recipe.generator == "integers" and _has_integer_dtype(recipe)
    if is_class and isinstance(last_class, int) and last_class + 1 in lengths:
        options["to"] = max(options.get("from", 0), lengths[last_class + 1] - 1)
    shape = tuple(lengths.get(length, length) for length in recipe.shape or ())
    return replace(recipe, shape=recipe.shape and shape, options=options)


def _has_integer_dtype(recipe: Recipe) -> bool:
    return recipe.dtype not in (None, *FLOATS)


def _with_other_scalars(
    case: CaseRecipe, others: Sequence[CaseRecipe], rng: random.Random
) -> CaseRecipe:
    """Return a case with the scalars of a random case, sometimes with one of them changed a little.

    Scalars belong together (a padding and its kernel), so all come from one case.  If the case has
    an array of integers, no scalar changes, because the integers may depend on the scalars.
    """
    if any(recipe.is_array and _has_integer_dtype(recipe) for recipe in case.inputs.values()):
        return case
    names = _scalars(case).keys()
    donors = [_scalars(other) for other in others]
    donors = [donor for donor in donors if donor.keys() >= names]
    donor = rng.choice(donors)
    scalars = {name: donor[name] for name in names}
    numbers = [name for name in names if is_number(scalars[name])]
    if numbers and rng.random() < 0.6:
        name = rng.choice(numbers)
        examples = [donor[name] for donor in donors if is_number(donor[name])]
        scalars[name] = _nearby(scalars[name], examples, rng)
    inputs = dict(case.inputs)
    for name, scalar in scalars.items():
        inputs[name] = Recipe(None, scalar)
    return replace(case, inputs=inputs)


def _scalars(case: CaseRecipe) -> dict[str, Any]:
    return {name: recipe.literal for name, recipe in case.inputs.items() if not recipe.is_array}


def _nearby(value: float, examples: Sequence[float], rng: random.Random) -> float:
    """Return a number between the least and the largest example.

    An int is near `value` or one of the examples; a float is anywhere in between.
    """
    least = min(examples)
    largest = max(examples)
    near = rng.choice([value - 1, value + 1, rng.choice(examples)])
    if type(value) is float:
        near = rng.uniform(least, largest)
    return min(max(near, least), largest)


def _to_yaml(recipe: Recipe) -> Any:  # noqa: ANN401 any YAML value
    options = dict(recipe.options)
    if recipe.dtype is not None:
        options["dtype"] = recipe.dtype
    if recipe.layout is not None:
        options["layout"] = recipe.layout
    if not recipe.is_array:
        return recipe.literal
    if recipe.generator == "array":
        return {"array": recipe.literal, **options} if options else recipe.literal
    shape: object = f"like {recipe.like}"
    if recipe.like is None:
        shape = list(recipe.shape or ())
    return {recipe.generator: shape, **options}
