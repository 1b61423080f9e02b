"""How one input of a case is written in YAML, checked and resolved without numpy.

`docs/keys.md` lists the generators and modifiers.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from grader.model import extension

if TYPE_CHECKING:
    from grader.model.extension import Generator

GENERATORS = (
    "array", "normal", "uniform", "integers", "distinct",
    "zeros", "ones", "full", "simplex", "one_hot",
)  # fmt: skip
OPTIONS: dict[str, tuple[str, ...]] = {
    "uniform": ("from", "to"),
    "integers": ("from", "to"),
    "distinct": ("gap",),
    "full": ("value",),
}
MODIFIERS = ("scale", "shift", "sprinkle", "sort", "dtype", "layout")
RESERVED = ("about", "extends", "dtype", "layout", "frozen")
LAYOUTS = ("contiguous", "fortran", "reversed", "strided", "readonly", "broadcast")
FLOATS = ("float32", "float64", "bfloat16")
DTYPES = (*FLOATS, "int64", "int32", "int16", "uint8", "bool")

MAX_DIMS = 8  # what the protocol carries
MAX_ENTRIES = 10_000_000  # of one input: 80 MB, sent to two processes


class RecipeError(Exception):
    """An input is not written as the format says.  `key` is the key at fault, if one is."""

    def __init__(self, message: str, key: str | None = None) -> None:
        """Store a sentence of the form 'expected ..., found ...'."""
        super().__init__(message)
        self.key = key


@dataclass(frozen=True, slots=True)
class Recipe:
    """One input.  A scalar has `generator` None and its value in `literal`."""

    generator: str | None
    literal: Any = None
    shape: tuple[int, ...] | None = None
    like: str | None = None  # an input or a result whose shape it takes
    options: Mapping[str, Any] | None = None
    dtype: str | None = None
    layout: str | None = None

    @property
    def is_array(self) -> bool:
        """Whether it makes an array."""
        return self.generator is not None

    @property
    def is_drawn(self) -> bool:
        """Whether it differs from draw to draw."""
        fixed = {None, "array", "zeros", "ones", "full"}
        return self.generator not in fixed or bool(self.option("sprinkle"))

    def option(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 whatever YAML holds
        """One option or modifier."""
        return (self.options or {}).get(name, default)


@dataclass(frozen=True, slots=True)
class CaseRecipe:
    """A case: its inputs in the order written, and what holds for all of them."""

    name: str
    inputs: Mapping[str, Recipe]
    about: str = ""
    dtype: str = "float64"
    layout: str = "contiguous"
    frozen: tuple[str, ...] = ()


def read_input(value: object) -> Recipe:
    """Read one input.

    Raises:
        RecipeError: in words for its author.
    """
    if isinstance(value, list):
        _rectangular(value)
        return Recipe("array", literal=value)
    if not isinstance(value, dict):
        return Recipe(None, literal=value)
    generator, extended = _generator(value)
    taken = OPTIONS.get(generator, ()) if extended is None else extended.options
    allowed = (generator, *taken, *MODIFIERS)
    for key in value:
        if key not in allowed:
            hint = _near(key, allowed[1:])
            raise RecipeError(
                f"{generator} takes {', '.join(allowed[1:])}, found the key {key!r}{hint}",
                str(key),
            )
    options = {str(k): v for k, v in value.items() if k not in {generator, "dtype", "layout"}}
    dtype = _one_of(value.get("dtype"), DTYPES, "dtype")
    layout = _one_of(value.get("layout"), LAYOUTS, "layout")
    _check_options(generator, options)
    if extended is not None and extended.refuse is not None:
        wrong = extended.refuse(options)
        if wrong:
            raise RecipeError(wrong, generator)
    if generator == "array":
        _rectangular(value["array"])
        recipe = Recipe("array", literal=value["array"], options=options)
    else:
        shape, like = _shape(value[generator], generator)
        if shape is not None:
            _check_shape(shape, generator, options)
        recipe = Recipe(generator, shape=shape, like=like, options=options)
    return replace(recipe, dtype=dtype, layout=layout)


def _generator(value: Mapping[str, Any]) -> tuple[str, Generator | None]:
    """The generator that an input names, and what extends the program by it, if it is none of ours.

    Raises:
        RecipeError: there is not exactly one.
    """
    named = [key for key in value if key in GENERATORS]
    if len(named) == 1:
        return str(named[0]), None
    words = [key for key in value if key not in (*MODIFIERS, *GENERATORS)]
    if not named:
        for key in words:
            try:
                found = extension.generator(str(key))
            except extension.ExtensionError as error:
                raise RecipeError(str(error), str(key)) from None
            if found is not None:
                return str(key), found
    known = GENERATORS if named else (*GENERATORS, *extension.names(extension.INPUTS))
    hint = next(filter(None, (_near(key, known) for key in words)), "") if not named else ""
    found_keys = ", ".join(map(str, value)) or "nothing"
    raise RecipeError(
        f"expected exactly one generator ({', '.join(known)}), found {found_keys}{hint}"
    )


def _near(word: object, words: Sequence[str]) -> str:
    """The nearest of some words, as a question; nothing where none is near."""
    found = difflib.get_close_matches(str(word), words, n=1, cutoff=0.5)
    return f"; did you mean {found[0]!r}?" if found else ""


def _check_options(generator: str, options: Mapping[str, Any]) -> None:
    for key in ("from", "to", "gap", "value", "scale", "shift"):
        if key in options and not _is_number(options[key]):
            raise RecipeError(f"expected a number, found {options[key]!r}", key)
    for key in ("from", "to", "gap", "scale", "shift"):
        if not math.isfinite(options.get(key, 0)):
            raise RecipeError(f"expected a finite number, found {options[key]!r}", key)
    if generator == "integers":
        if not {"from", "to"} <= options.keys():
            raise RecipeError("integers needs from and to, both included")
        for key in ("from", "to"):
            if int(options[key]) != options[key] or abs(options[key]) > 1 << 53:
                raise RecipeError(f"expected a whole number, found {options[key]!r}", key)
    if generator in {"integers", "uniform"} and options.get("from", 0) > options.get("to", 1):
        raise RecipeError("expected from to be at most to", "from")
    if options.get("gap", 1) <= 0:
        raise RecipeError(f"expected a gap above 0, found {options['gap']!r}", "gap")
    if not isinstance(options.get("sort", False), bool):
        raise RecipeError(f"expected true or false, found {options['sort']!r}", "sort")
    if generator == "full" and "value" not in options:
        raise RecipeError("full needs a value")
    sprinkle = options.get("sprinkle")
    if sprinkle is not None and not (
        isinstance(sprinkle, dict)
        and set(sprinkle) == {"value", "share"}
        and all(_is_number(v) for v in sprinkle.values())
        and 0 <= sprinkle["share"] <= 1
    ):
        raise RecipeError("expected {value: NUMBER, share: NUMBER from 0 to 1}", "sprinkle")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _one_of(value: object, allowed: tuple[str, ...], key: str) -> str | None:
    if value is not None and value not in allowed:
        raise RecipeError(_listed(value, allowed), key)
    return None if value is None else str(value)


def _listed(value: object, allowed: Sequence[str]) -> str:
    return f"expected one of {', '.join(allowed)}, found {value!r}{_near(value, allowed)}"


def _shape(value: object, generator: str) -> tuple[tuple[int, ...] | None, str | None]:
    match value:
        case str() if value.startswith("like "):
            return None, value.removeprefix("like ").strip()
        case list() if all(
            isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in value
        ):
            return tuple(value), None
        case int() if not isinstance(value, bool) and value >= 0:
            return (value,), None
        case _:
            raise RecipeError(
                f"expected a shape (a list of sizes) or 'like NAME', found {value!r}", generator
            )


def _check_shape(shape: tuple[int, ...], generator: str, options: Mapping[str, Any]) -> None:
    if len(shape) > MAX_DIMS or math.prod(shape) > MAX_ENTRIES:
        raise RecipeError(
            f"expected at most {MAX_DIMS} dimensions and {MAX_ENTRIES:,} entries, "
            f"found {list(shape)}",
            generator,
        )
    if not shape and (generator in {"simplex", "one_hot"} or options.get("sort")):
        raise RecipeError("expected at least one dimension, found []", generator)


def _rectangular(value: object) -> tuple[int, ...]:
    if not isinstance(value, list):
        if not isinstance(value, (int, float)):
            raise RecipeError(f"expected numbers in an array, found {value!r}")
        return ()
    shapes = {_rectangular(item) for item in value}
    if len(shapes) > 1:
        raise RecipeError("the rows of an array differ in length")
    return (len(value), *(next(iter(shapes)) if shapes else ()))


def read_cases(
    cases: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, CaseRecipe], list[tuple[tuple[str, ...], str]]]:
    """Read all cases, resolving `extends`.

    Returns:
        The cases that could be read, and for each fault the keys that lead to it and a sentence.
    """
    faults: list[tuple[tuple[str, ...], str]] = []
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
        frozen = written.get("frozen", [])
        for option, value, allowed in (("dtype", dtype, FLOATS), ("layout", layout, LAYOUTS)):
            if value not in allowed:
                faults.append(((name, option), _listed(value, allowed)))
        if not isinstance(frozen, list) or any(
            not isinstance(n, str) or n not in inputs for n in frozen
        ):
            faults.append(
                ((name, "frozen"), f"expected a list of this case's inputs, found {frozen!r}")
            )
            frozen = []
        for key, recipe in inputs.items():
            if recipe.like is None:
                continue
            if key in shape_chain(key, inputs):
                faults.append(((name, key), f"{key} cannot take its own shape"))
            elif recipe.like in inputs and not inputs[recipe.like].is_array:
                faults.append(((name, key), f"expected 'like' an array, found {recipe.like}"))
        read[name] = CaseRecipe(
            name, inputs, str(written.get("about", "")), str(dtype), str(layout), tuple(frozen)
        )
    return read, faults


def shape_chain(name: str, inputs: Mapping[str, Recipe]) -> list[str]:
    """The names from which an input takes its shape, nearest first; its own where they circle."""
    chain: list[str] = []
    like = inputs[name].like
    while like is not None and like not in chain:
        chain.append(like)
        like = inputs[like].like if like in inputs else None
    return chain


def _extended(
    name: str, cases: Mapping[str, Mapping[str, Any]], faults: list[tuple[tuple[str, ...], str]]
) -> dict[str, Any]:
    chain = [name]
    while "extends" in cases[chain[-1]]:
        parent = cases[chain[-1]]["extends"]
        if not isinstance(parent, str) or parent not in cases or parent in chain:
            found = "itself" if parent in chain else repr(parent)
            others = [case for case in cases if case not in chain]
            found += "" if parent in chain else _near(parent, others)
            faults.append(
                ((chain[-1], "extends"), f"expected the name of another case, found {found}")
            )
            break
        chain.append(parent)
    written: dict[str, Any] = {}
    for link in reversed(chain):
        written |= {k: v for k, v in cases[link].items() if link == name or k != "about"}
    return written
