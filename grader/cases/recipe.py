"""How a case is written in YAML, checked and resolved without numpy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from grader.cases.inputs import (
    FLOATS,
    LAYOUTS,
    MAX_ENTRIES,
    Recipe,
    RecipeError,
    near,
    not_listed,
    read_input,
)
from grader.model.spec import GRADE_SECONDS, Limits

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

Fault = tuple[tuple[str | int, ...], str]  # the keys that lead to it, and a sentence
_NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class CaseRecipe:
    """A case: its inputs in the order written, and what holds for all of them."""

    name: str
    inputs: Mapping[str, Recipe]
    about: str = ""
    dtype: str = "float64"
    layout: str = "contiguous"
    frozen: tuple[str, ...] = ()
    limits: Limits = _NO_LIMITS
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
        The cases, and what is wrong with them: in place of what cannot be read stands a default.
    """
    readers = {name: _Reader(name, cases) for name in cases}
    read = {name: reader.case() for name, reader in readers.items()}
    return read, [fault for reader in readers.values() for fault in reader.faults]


def every_draw(cases: Mapping[str, CaseRecipe]) -> dict[str, CaseRecipe]:
    """The cases with further draws of them as cases of their own."""
    return {
        name: replace(case, name=name)
        for case in cases.values()
        for name in (case.name, *case.others)
    }


def shape_chain(name: str, inputs: Mapping[str, Recipe]) -> list[str]:
    """The names from which an input takes its shape, nearest first; its own where they circle."""
    chain: list[str] = []
    like = inputs[name].like
    while like is not None and like not in chain:
        chain.append(like)
        like = inputs[like].like if like in inputs else None
    return chain


class _Reader:
    """Reads one case, and notes what is wrong with it."""

    def __init__(self, name: str, cases: Mapping[str, Mapping[str, Any]]) -> None:
        self.name, self.faults = name, list[Fault]()
        self.written = self._extended(cases)

    def case(self) -> CaseRecipe:
        """The case."""
        written = self.written
        inputs = {key: self._input(key) for key in written if key not in RESERVED}
        dtype, layout = written.get("dtype", "float64"), written.get("layout", "contiguous")
        for option, value, allowed in (("dtype", dtype, FLOATS), ("layout", layout, LAYOUTS)):
            if value not in allowed:
                self._note(not_listed(value, allowed), option)
        frozen = written.get("frozen", [])
        if not isinstance(frozen, list) or not all(n in list(inputs) for n in frozen):
            self._note(f"expected a list of this case's inputs, found {frozen!r}", "frozen")
            frozen = []
        for key, recipe in inputs.items():
            if key in shape_chain(key, inputs):
                self._note(f"{key} cannot take its own shape", key)
            elif recipe.like in inputs and not inputs[recipe.like].is_array:
                self._note(f"expected 'like' an array, found {recipe.like}", key)
        entries = sum(_entries(key, inputs) for key in inputs)
        if entries > MAX_ENTRIES:
            self._note(f"expected at most {MAX_ENTRIES:,} entries in all inputs, found {entries:,}")
        return CaseRecipe(
            self.name,
            inputs,
            str(written.get("about", "")),
            str(dtype),
            str(layout),
            tuple(frozen),
            self._limits(),
            self._draws(inputs),
        )

    def _note(self, text: str, *keys: str, case: str = "") -> None:
        self.faults.append((("cases", case or self.name, *keys), text))

    def _extended(self, cases: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """The keys of the case with those of the cases that it extends."""
        chain = [self.name]
        while "extends" in cases[chain[-1]]:
            parent = cases[chain[-1]]["extends"]
            if not isinstance(parent, str) or parent not in cases or parent in chain:
                others = [case for case in cases if case not in chain]
                found = "itself" if parent in chain else f"{parent!r}{near(parent, others)}"
                text = f"expected the name of another case, found {found}"
                self._note(text, "extends", case=chain[-1])
                break
            chain.append(parent)
        written: dict[str, Any] = {}
        for link in reversed(chain):
            own = link == self.name
            written |= {k: v for k, v in cases[link].items() if own or k != "about"}
        return written

    def _input(self, key: str) -> Recipe:
        try:
            return read_input(self.written[key])
        except RecipeError as error:
            self._note(str(error), key, *([] if error.key is None else [error.key]))
            return Recipe(None)  # the input is there, so nothing else need complain

    def _limits(self) -> Limits:
        written = self.written.get("limits", {})
        try:
            return Limits.model_validate(written)
        except ValidationError:
            known = f"cpu_seconds or wall_seconds, above 0 and up to {GRADE_SECONDS}"
            self._note(f"expected {known}, found {written!r}", "limits")
            return _NO_LIMITS

    def _draws(self, inputs: Mapping[str, Recipe]) -> int:
        written = self.written.get("draws", 1)
        if type(written) is not int or not 1 <= written <= MAX_DRAWS:
            text = f"expected a whole number from 1 to {MAX_DRAWS}, found {written!r}"
            if isinstance(written, (dict, list)):
                text += "; draws is a word of cases: an input needs another name"
        elif written > 1 and not any(recipe.is_drawn for recipe in inputs.values()):
            text = "expected inputs that are drawn, found only fixed ones: all draws are the same"
        else:
            return written
        self._note(text, "draws")
        return 1


def _entries(name: str, inputs: Mapping[str, Recipe]) -> int:
    """How many entries an input has; 0 where only a result says."""
    shaped = inputs.get([name, *shape_chain(name, inputs)][-1])
    return 0 if shaped is None or shaped.shape is None else math.prod(shaped.shape)
