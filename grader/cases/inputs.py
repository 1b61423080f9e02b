"""How one input of a case is written in YAML, checked without numpy.

`docs/keys.md` lists the generators and modifiers, from their lines here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grader.model.errors import did_you_mean

GENERATORS = {
    "array": "The values themselves, where modifiers are wanted.",
    "normal": "Standard normal.",
    "uniform": "Uniform between `from` and `to`, which are 0 and 1 if not given.",
    "integers": "Whole numbers between `from` and `to`, both included.",
    "distinct": "A permutation of equally spaced values around 0, `gap` apart (0.25 if not given): "
    "away from ties.",
    "zeros": "Zeros.",
    "ones": "Ones.",
    "full": "`value` throughout.",
    "simplex": "Rows of positive numbers that sum to 1, along the last axis.",
    "one_hot": "Rows with a single 1 at a random place, along the last axis.",
}
OPTIONS: dict[str, tuple[str, ...]] = {
    "uniform": ("from", "to"),
    "integers": ("from", "to"),
    "distinct": ("gap",),
    "full": ("value",),
}
NEEDED: dict[str, tuple[str, ...]] = {"integers": ("from", "to"), "full": ("value",)}
MODIFIERS = {
    "scale": "All values times this.",
    "shift": "Then all values plus this.",
    "sprinkle": "Then a share of the entries is replaced: {value: -.inf, share: 0.8}.",
    "sort": "Then sorted along the last axis.",
    "dtype": "Its own dtype, also int64, int32, int16, uint8 or bool.",
    "layout": "Its own layout in memory.",
}
LAYOUTS = ("contiguous", "fortran", "reversed", "strided", "readonly", "broadcast")
FLOATS = ("float32", "float64", "bfloat16")
DTYPES = (*FLOATS, "int64", "int32", "int16", "uint8", "bool")
ROWS = {"simplex", "one_hot"}  # generators that need a last axis

MAX_DIMS = 8  # what the protocol carries
MAX_ENTRIES = 4_000_000  # of a case's inputs together: 32 MB, sent to two processes

near = functools.partial(did_you_mean, parts=False)  # a sentence, where a word is nearly right


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
    options: Mapping[str, Any] = field(default_factory=dict)
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

    @property
    def needs_axis(self) -> bool:
        """Whether it cannot be of no dimension."""
        return self.generator in ROWS or bool(self.option("sort"))

    def option(self, name: str) -> Any:  # noqa: ANN401 whatever YAML holds
        """One option or modifier; None where it is not given."""
        return self.options.get(name)


def read_input(value: object) -> Recipe:
    """Read one input.

    Raises:
        RecipeError: it is not written as the format says.
    """
    if isinstance(value, list):
        _rectangular(value)
        return Recipe("array", literal=value)
    if not isinstance(value, dict):
        return Recipe(None, literal=value)
    generator = _generator(value)
    allowed = [*OPTIONS.get(generator, ()), *MODIFIERS]
    for key in value:
        if key not in (generator, *allowed):
            found = f"found the key {key!r}{near(key, allowed)}"
            raise RecipeError(f"{generator} takes {', '.join(allowed)}, {found}", key)
    for key, words in (("dtype", DTYPES), ("layout", LAYOUTS)):
        if value.get(key) not in (None, *words):
            raise RecipeError(not_listed(value[key], words), key)
    options = {k: v for k, v in value.items() if k not in {generator, "dtype", "layout"}}
    _check_options(generator, options)
    written, dtype, layout = value[generator], value.get("dtype"), value.get("layout")
    recipe = Recipe(generator, options=options, dtype=dtype, layout=layout)
    if generator == "array":
        _rectangular(written)
        return replace(recipe, literal=written)
    return _shaped(recipe, written)


def _generator(value: Mapping[str, Any]) -> str:
    """The one generator that an input names."""
    named = [key for key in value if key in GENERATORS]
    if len(named) == 1:
        return named[0]
    words = [] if named else [key for key in value if key not in MODIFIERS]
    hint = next(filter(None, (near(key, GENERATORS) for key in words)), "")
    raise RecipeError(
        f"expected exactly one generator ({', '.join(GENERATORS)}), "
        f"found {', '.join(value) or 'nothing'}{hint}"
    )


def _check_options(generator: str, options: Mapping[str, Any]) -> None:
    for key in ("from", "to", "gap", "value", "scale", "shift"):
        if key in options and not is_number(options[key]):
            raise RecipeError(f"expected a number, found {options[key]!r}", key)
        if key != "value" and not math.isfinite(options.get(key, 0)):
            raise RecipeError(f"expected a finite number, found {options[key]!r}", key)
    if not options.keys() >= set(needed := NEEDED.get(generator, ())):
        raise RecipeError(f"{generator} needs {' and '.join(needed)}")
    if generator == "integers":
        for key in ("from", "to"):
            if int(options[key]) != options[key] or abs(options[key]) > 1 << 53:
                raise RecipeError(f"expected a whole number, found {options[key]!r}", key)
    if generator in {"integers", "uniform"} and options.get("from", 0) > options.get("to", 1):
        raise RecipeError("expected from to be at most to", "from")
    if options.get("gap", 1) <= 0:
        raise RecipeError(f"expected a gap above 0, found {options['gap']!r}", "gap")
    if not isinstance(options.get("sort", False), bool):
        raise RecipeError(f"expected true or false, found {options['sort']!r}", "sort")
    match options.get("sprinkle"):
        case None:
            pass
        case {"value": number, "share": share, **more} if (
            not more and is_number(number) and is_number(share) and 0 <= share <= 1
        ):
            pass
        case _:
            raise RecipeError("expected {value: NUMBER, share: NUMBER from 0 to 1}", "sprinkle")


def is_number(value: object) -> bool:
    """Whether YAML gives a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def not_listed(value: object, allowed: Sequence[str]) -> str:
    """What is expected and found of a word that has to be one of a list."""
    listed = ", ".join(allowed)
    return f"expected one of {listed}, found {value!r}{near(value, allowed)}"


def _shaped(recipe: Recipe, written: object) -> Recipe:
    """An input with the shape that is written: sizes, one size, or that of another by name."""
    if isinstance(written, str) and written.startswith("like "):
        return replace(recipe, like=written.removeprefix("like ").strip())
    sizes: list[Any] = written if isinstance(written, list) else [written]
    if not all(type(size) is int and size >= 0 for size in sizes):
        text = f"expected a shape (a list of sizes) or 'like NAME', found {written!r}"
        raise RecipeError(text, recipe.generator)
    if len(sizes) > MAX_DIMS or math.prod(sizes) > MAX_ENTRIES:
        most = f"{MAX_DIMS} dimensions and {MAX_ENTRIES:,} entries"
        raise RecipeError(f"expected at most {most}, found {sizes}", recipe.generator)
    if not sizes and recipe.needs_axis:
        raise RecipeError("expected at least one dimension, found []", recipe.generator)
    return replace(recipe, shape=tuple(sizes))


def _rectangular(value: object) -> tuple[int, ...]:
    if not isinstance(value, list):
        if not isinstance(value, (int, float)):
            raise RecipeError(f"expected numbers in an array, found {value!r}")
        return ()
    shapes = {_rectangular(item) for item in value}
    if len(shapes) > 1:
        raise RecipeError("the rows of an array differ in length")
    return (len(value), *next(iter(shapes), ()))
