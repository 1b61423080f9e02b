"""A case in other sizes and with other numbers, within what a question's cases give each name."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import yaml

from grader.cases.recipe import FLOATS, CaseRecipe, Recipe
from grader.model.mutants import Reach

MAX_RESIZED_SIDE = 9  # side of an array that was smaller before


def vary_case(
    case: CaseRecipe,
    cases: Sequence[CaseRecipe],
    rng: random.Random,
    reach: Reach,
    layouts: Sequence[str],
) -> CaseRecipe | None:
    """Another case in the manner of one of the question's cases; None where nothing can change.

    `reach` says what to change: values alone, sizes (with dtype and one of the layouts that the
    question allows), or numbers as well; `rng` is the only source of chance.
    """
    inputs = dict(case.inputs)
    if reach is Reach.VALUES or rng.random() < 0.25:
        inputs = {name: with_small_integers(recipe) for name, recipe in inputs.items()}
    if reach is Reach.VALUES:
        changed = replace(case, inputs=inputs)
        return None if changed == case else changed
    sizes = {
        n: min(rng.choice([1, 2, 3, max(1, n - 1), n + 1, n]), max(n, MAX_RESIZED_SIDE))
        for n in sorted(variable_side_lengths(case))
    }
    taken = _numbers(case, cases, rng) if reach is Reach.NUMBERS else {}
    inputs = {
        name: Recipe(None, taken[name]) if name in taken else _resized(recipe, sizes)
        for name, recipe in inputs.items()
    }
    dtypes = sorted({c.dtype for c in cases if c.inputs.keys() == case.inputs.keys()})
    plain = case.layout == "contiguous" and not any(r.layout for r in inputs.values())
    changed = replace(
        case,
        inputs=inputs,
        dtype=rng.choice([case.dtype, *dtypes]),
        layout=rng.choice(["contiguous", "contiguous", *layouts]) if plain else case.layout,
    )
    return None if changed == case else changed


def resized_case(case: CaseRecipe, number: int, *, fixed: int = 0) -> CaseRecipe | None:
    """A case of other shapes for one whose arrays are written out; None where none are.

    One that is written out gives the same numbers however often it is drawn.  Lengths that are
    equal stay equal; each grows by `number`, but those up to `fixed`.
    """
    arrays = [r for r in case.inputs.values() if r.generator == "array"]
    entries = [np.asarray(r.literal, np.float64) for r in arrays]
    if not any(e.size for e in entries) or not all(np.isfinite(e).all() for e in entries):
        return None
    drawn = {name: _drawn(recipe, number, fixed) for name, recipe in case.inputs.items()}
    return replace(case, inputs=drawn)


def _drawn(recipe: Recipe, grows: int, fixed: int) -> Recipe:
    """What an input becomes in a sibling."""
    entries = np.asarray(recipe.literal, np.float64) if recipe.generator == "array" else None
    sides = recipe.shape if entries is None else entries.shape
    if sides is None:
        return recipe
    shape = tuple(n if n <= fixed else n + grows for n in sides)
    if entries is None:
        return replace(recipe, shape=shape)
    low, high = float(entries.min(initial=0.0)), float(entries.max(initial=0.0))
    made: tuple[str, dict[str, float]] = "uniform", {"from": low, "to": max(high, 1.0)}
    if _is_whole(recipe) and entries.size:  # where all are 1 or more, 0 may not be allowed
        made = "integers", {"from": int(entries.min()), "to": int(entries.max())}
    elif low < 0:
        made = "normal", {}
    return Recipe(made[0], None, shape, None, made[1], recipe.dtype, recipe.layout)


def with_small_integers(recipe: Recipe) -> Recipe:
    """Small whole numbers, with zeros and ties among them, for what may be any number.

    What is drawn with a purpose stays: probabilities, classes, distinct values, bounded ones.
    """
    if _is_whole(recipe) or recipe.option("sprinkle") or recipe.option("sort"):
        return recipe
    shape = recipe.shape
    if recipe.generator == "array":
        entries = np.asarray(recipe.literal)
        if not (np.isfinite(entries).all() and (entries < 0).any() and (entries > 0).any()):
            return recipe
        shape = entries.shape
    elif recipe.generator != "normal":
        return recipe
    options = {"from": -2, "to": 2}
    return Recipe("integers", None, shape, recipe.like, options, recipe.dtype, recipe.layout)


def format_inputs(case: CaseRecipe, names: Collection[str]) -> list[str]:
    """The inputs of a case as they are written in a spec, each on one line."""
    lines = {name: _written(recipe) for name, recipe in case.inputs.items() if name in names}
    plain = {"dtype": "float64", "layout": "contiguous"}
    lines |= {key: value for key in plain if (value := getattr(case, key)) != plain[key]}
    return [
        # In braces, which do not stand in a case: {x: {normal: [2, 3]}}.
        yaml.safe_dump(
            {name: value}, default_flow_style=True, sort_keys=False, width=math.inf
        ).strip()[1:-1]
        for name, value in lines.items()
    ]


def with_side_lengths(case: CaseRecipe, lengths: Mapping[int, int]) -> CaseRecipe:
    """The case with other lengths in the place of some, wherever they stand."""
    inputs = {name: _resized(recipe, lengths) for name, recipe in case.inputs.items()}
    return replace(case, inputs=inputs)


def variable_side_lengths(case: CaseRecipe) -> set[int]:
    """Every length of a side that may change; equal ones are taken to belong together.

    What an array that is written out has for a side cannot change, so nothing of that length does.
    """
    arrays = [r for r in case.inputs.values() if r.is_array]
    fixed = {n for r in arrays if r.generator == "array" for n in np.shape(r.literal)}
    return {n for r in arrays for n in r.shape or () if n > 0} - fixed


def _resized(recipe: Recipe, sizes: Mapping[int, int]) -> Recipe:
    if not recipe.is_array:
        return recipe
    options = dict(recipe.options or {})
    top = options.get("to")
    # Classes run up to one below a size: fewer of them where that size is smaller.
    classes = recipe.generator == "integers" and _is_whole(recipe)
    if classes and isinstance(top, int) and top + 1 in sizes:
        options["to"] = max(options.get("from", 0), sizes[top + 1] - 1)
    shape = recipe.shape and tuple(sizes.get(n, n) for n in recipe.shape)
    return replace(recipe, shape=shape, options=options)


def _is_whole(recipe: Recipe) -> bool:
    """Whether what is drawn are whole numbers by dtype, such as classes."""
    return recipe.dtype not in (None, *FLOATS)


def _numbers(
    case: CaseRecipe, others: Sequence[CaseRecipe], rng: random.Random
) -> Mapping[str, Any]:
    """What another case gives the names that are no arrays, one of them moved a little at times.

    Numbers belong together (a padding to its kernel), so they are taken from one case.  They stay
    where an array of whole numbers may be about them.
    """
    if any(r.is_array and _is_whole(r) for r in case.inputs.values()):
        return {}
    names = [name for name, recipe in case.inputs.items() if not recipe.is_array]
    donors = [c for c in others if all(n in c.inputs and not c.inputs[n].is_array for n in names)]
    donor = rng.choice(donors)
    taken = {name: donor.inputs[name].literal for name in names}
    numbers = [name for name in names if type(taken[name]) in (int, float)]
    if numbers and rng.random() < 0.6:
        name = rng.choice(numbers)
        value = taken[name]
        seen = [v for c in donors if type(v := c.inputs[name].literal) in (int, float)]
        near = rng.choice([value - 1, value + 1, rng.choice(seen)])
        if type(value) is float:
            near = rng.uniform(min(seen), max(seen))
        taken[name] = min(max(near, min(seen)), max(seen))
    return taken


def _written(recipe: Recipe) -> Any:  # noqa: ANN401 whatever YAML holds
    options = {k: v for k, v in (recipe.options or {}).items() if k != "array"}
    options |= {k: v for k in ("dtype", "layout") if (v := getattr(recipe, k)) is not None}
    if not recipe.is_array or (recipe.generator == "array" and not options):
        return recipe.literal
    first = recipe.literal if recipe.generator == "array" else list(recipe.shape or ())
    return {recipe.generator: f"like {recipe.like}" if recipe.like else first, **options}
