"""How a case is written in YAML, checked and resolved without numpy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from grader.cases.inputs import (
    FLOATS,
    LAYOUTS,
    MAX_ENTRIES,
    Recipe,
    RecipeError,
    is_number,
    near,
    not_listed,
    read_input,
)
from grader.model.keys import GRADE_SECONDS, Limits

RESERVED = {
    "about": "A phrase for the reader.",
    "extends": "Another case to begin from; keys written here replace its.",
    "dtype": "Of all floating arrays: float64 (default), float32 or bfloat16.",
    "layout": "Of all arrays: contiguous (default), fortran, reversed, strided, readonly or "
    "broadcast.",
    "frozen": "In torch: inputs that do not require a gradient.",
    "limits": "How long a call on this case may take, as in the question's `limits`.",
    "draws": "How many draws there are of it, each a case of every check that has it; 1 if not "
    "given.",
}

MAX_DRAWS = 24  # of a case: each is one

Fault = tuple[tuple[str, ...], str]  # the keys that lead to it, and a sentence

NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class CaseRecipe:
    """A case: its inputs in the order written, and what holds for all of them."""

    name: str
    inputs: Mapping[str, Recipe]
    about: str = ""
    dtype: str = "float64"
    layout: str = "contiguous"
    frozen: tuple[str, ...] = ()
    limits: Limits = NO_LIMITS
    draws: int = 1

    @property
    def others(self) -> tuple[str, ...]:
        """What its further draws are called."""
        return tuple(f"{self.name} ({number})" for number in range(2, self.draws + 1))


def read_cases(
    cases: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, CaseRecipe], list[Fault]]:
    """Read all cases, resolving `extends`.

    Returns:
        The cases that could be read, and for each fault the keys that lead to it and a sentence.
    """
    faults: list[Fault] = []
    read: dict[str, CaseRecipe] = {}
    for name in cases:
        written = _extended(name, cases, faults)
        inputs: dict[str, Recipe] = {}
        for key, value in written.items():
            if key in RESERVED:
                continue
            try:
                inputs[key] = read_input(value)
            except RecipeError as error:
                path = (name, key) if error.key is None else (name, key, error.key)
                faults.append((path, str(error)))
                inputs[key] = Recipe(None)  # the input is there, so nothing else need complain
        dtype, layout = written.get("dtype", "float64"), written.get("layout", "contiguous")
        for option, value, allowed in (("dtype", dtype, FLOATS), ("layout", layout, LAYOUTS)):
            if value not in allowed:
                faults.append(((name, option), not_listed(value, allowed)))
        frozen = written.get("frozen", [])
        if not isinstance(frozen, list) or not all(n in list(inputs) for n in frozen):
            text = f"expected a list of this case's inputs, found {frozen!r}"
            faults.append(((name, "frozen"), text))
            frozen = []
        for key, recipe in inputs.items():
            if key in shape_chain(key, inputs):
                faults.append(((name, key), f"{key} cannot take its own shape"))
            elif recipe.like in inputs and not inputs[recipe.like].is_array:
                faults.append(((name, key), f"expected 'like' an array, found {recipe.like}"))
        limits = _limits(name, written.get("limits", {}), faults)
        entries = sum(_entries(key, inputs) for key in inputs)
        if entries > MAX_ENTRIES:
            text = f"expected at most {MAX_ENTRIES:,} entries in all inputs, found {entries:,}"
            faults.append(((name,), text))
        read[name] = CaseRecipe(
            name,
            inputs,
            str(written.get("about", "")),
            str(dtype),
            str(layout),
            tuple(frozen),
            limits,
            _draws(name, written.get("draws", 1), inputs, faults),
        )
    return read, faults


def _limits(case: str, written: object, faults: list[Fault]) -> Limits:
    """The limits of a case; none where they are not written as the format says."""
    most = dict.fromkeys(("cpu_seconds", "wall_seconds"), GRADE_SECONDS)
    if not isinstance(written, dict):
        text = f"expected {' or '.join(most)}, found {written!r}"
        faults.append(((case, "limits"), text))
        return NO_LIMITS
    good = {}
    for key, value in written.items():
        if key not in most:
            text = f"expected {' or '.join(most)}, found the key {key!r}{near(key, most)}"
            faults.append(((case, "limits", str(key)), text))
        elif not is_number(value) or not 0 < value <= most[key]:
            text = f"expected a number above 0 and up to {most[key]}, found {value!r}"
            faults.append(((case, "limits", key), text))
        else:
            good[key] = float(value)
    return Limits(**good)


def every_draw(cases: Mapping[str, CaseRecipe]) -> dict[str, CaseRecipe]:
    """The cases with further draws of them as cases of their own."""
    return {
        name: replace(case, name=name)
        for case in cases.values()
        for name in (case.name, *case.others)
    }


def _draws(case: str, written: object, inputs: Mapping[str, Recipe], faults: list[Fault]) -> int:
    """How many draws there are of a case; what is wrong with that is added to the faults."""
    if type(written) is not int or not 1 <= written <= MAX_DRAWS:
        text = f"expected a whole number from 1 to {MAX_DRAWS}, found {written!r}"
        if isinstance(written, (dict, list)):
            text += "; draws is a word of cases: an input needs another name"
    elif written > 1 and not any(recipe.is_drawn for recipe in inputs.values()):
        text = "expected inputs that are drawn, found only fixed ones: every draw would be the same"
    else:
        return written
    faults.append(((case, "draws"), text))
    return 1


def shape_chain(name: str, inputs: Mapping[str, Recipe]) -> list[str]:
    """The names from which an input takes its shape, nearest first; its own where they circle."""
    chain: list[str] = []
    like = inputs[name].like
    while like is not None and like not in chain:
        chain.append(like)
        like = inputs[like].like if like in inputs else None
    return chain


def _entries(name: str, inputs: Mapping[str, Recipe]) -> int:
    """How many entries an input has; 0 where only a result says."""
    shaped = inputs.get([name, *shape_chain(name, inputs)][-1])
    return 0 if shaped is None or shaped.shape is None else math.prod(shaped.shape)


def _extended(
    name: str, cases: Mapping[str, Mapping[str, Any]], faults: list[Fault]
) -> dict[str, Any]:
    """The keys of a case with those of the cases that it extends."""
    chain = [name]
    while "extends" in cases[chain[-1]]:
        parent = cases[chain[-1]]["extends"]
        if not isinstance(parent, str) or parent not in cases or parent in chain:
            others = [case for case in cases if case not in chain]
            found = "itself" if parent in chain else f"{parent!r}{near(parent, others)}"
            text = f"expected the name of another case, found {found}"
            faults.append(((chain[-1], "extends"), text))
            break
        chain.append(parent)
    written: dict[str, Any] = {}
    for link in reversed(chain):
        written |= {k: v for k, v in cases[link].items() if link == name or k != "about"}
    return written
