"""How one input of a case is written in YAML, checked and resolved without numpy.

`docs/keys.md` lists the generators and modifiers, from their lines here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grader.cases.size_expr import AmountError
from grader.model import extension
from grader.model.keys import MOST_CPU, MOST_WALL, Limits
from grader.model.nearest import did_you_mean

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
RESERVED = {
    "about": "A phrase for the reader.",
    "extends": "Another case to begin from; keys written here replace its.",
    "dtype": "Of all floating arrays: float64 (default), float32 or bfloat16.",
    "layout": "Of all arrays: contiguous (default), fortran, reversed, strided, readonly or "
    "broadcast.",
    "frozen": "In torch: inputs that do not require a gradient.",
    "limits": "How long a call on this case may take, as in the question's `limits`.",
    "where": "A condition, or a list, that a draw has to meet, such as ties(x) > 0: it is drawn "
    "again until it does.",
    "draws": "How many draws there are of it, each a case of every check that has it; 1 if not "
    "given.",
}
LAYOUTS = ("contiguous", "fortran", "reversed", "strided", "readonly", "broadcast")
FLOATS = ("float32", "float64", "bfloat16")
DTYPES = (*FLOATS, "int64", "int32", "int16", "uint8", "bool")
ROWS = {"simplex", "one_hot"}  # generators that need a last axis

MAX_DRAWS = 24  # of a case: each is one
MAX_DIMS = 8  # what the protocol carries
MAX_ENTRIES = 4_000_000  # of a case's inputs together: 32 MB, sent to two processes

Fault = tuple[tuple[str, ...], str]  # the keys that lead to it, and a sentence

_near = functools.partial(did_you_mean, parts=False)


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
    where: tuple[str, ...] = ()  # conditions that a draw meets
    draws: int = 1

    @property
    def others(self) -> tuple[str, ...]:
        """What its further draws are called."""
        return tuple(f"{self.name} ({number})" for number in range(2, self.draws + 1))


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
    generator, extended = _generator(value)
    taken = OPTIONS.get(generator, ()) if extended is None else extended.options
    allowed = [*taken, *MODIFIERS]
    for key in value:
        if key not in (generator, *allowed):
            found = f"found the key {key!r}{_near(key, allowed)}"
            raise RecipeError(f"{generator} takes {', '.join(allowed)}, {found}", key)
    for key, words in (("dtype", DTYPES), ("layout", LAYOUTS)):
        if value.get(key) not in (None, *words):
            raise RecipeError(_not_listed(value[key], words), key)
    options = {k: v for k, v in value.items() if k not in {generator, "dtype", "layout"}}
    _check_options(generator, options)
    if extended is not None and extended.refuse is not None and (wrong := extended.refuse(options)):
        raise RecipeError(wrong, generator)
    written, dtype, layout = value[generator], value.get("dtype"), value.get("layout")
    recipe = Recipe(generator, options=options, dtype=dtype, layout=layout)
    if generator == "array":
        _rectangular(written)
        return replace(recipe, literal=written)
    return _shaped(recipe, written)


def _generator(value: Mapping[str, Any]) -> tuple[str, extension.Generator | None]:
    """The one generator that an input names, and what a package gives if it is not built in."""
    named = [key for key in value if key in GENERATORS]
    if len(named) == 1:
        return named[0], None
    known, hint = [*GENERATORS], ""
    if not named:
        words = [key for key in value if key not in MODIFIERS]
        for key in words:
            try:
                found = extension.generator(key)
            except extension.ExtensionError as error:
                raise RecipeError(str(error), key) from None
            if found is not None:
                return key, found
        known += extension.names(extension.INPUTS)
        hint = next(filter(None, (_near(key, known) for key in words)), "")
    raise RecipeError(
        f"expected exactly one generator ({', '.join(known)}), "
        f"found {', '.join(value) or 'nothing'}{hint}"
    )


def _check_options(generator: str, options: Mapping[str, Any]) -> None:
    for key in ("from", "to", "gap", "value", "scale", "shift"):
        if key in options and not _is_number(options[key]):
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
            not more and _is_number(number) and _is_number(share) and 0 <= share <= 1
        ):
            pass
        case _:
            raise RecipeError("expected {value: NUMBER, share: NUMBER from 0 to 1}", "sprinkle")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _not_listed(value: object, allowed: Sequence[str]) -> str:
    listed = ", ".join(allowed)
    return f"expected one of {listed}, found {value!r}{_near(value, allowed)}"


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
                faults.append(((name, option), _not_listed(value, allowed)))
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
            _where(name, written.get("where", []), inputs, faults),
            _draws(name, written.get("draws", 1), inputs, faults),
        )
    return read, faults


def _limits(case: str, written: object, faults: list[Fault]) -> Limits:
    """The limits of a case; none where they are not written as the format says."""
    most = {"cpu_seconds": MOST_CPU, "wall_seconds": MOST_WALL}
    if not isinstance(written, dict):
        text = f"expected {' or '.join(most)}, found {written!r}"
        faults.append(((case, "limits"), text))
        return NO_LIMITS
    good = {}
    for key, value in written.items():
        if key not in most:
            text = f"expected {' or '.join(most)}, found the key {key!r}{_near(key, most)}"
            faults.append(((case, "limits", str(key)), text))
        elif not _is_number(value) or not 0 < value <= most[key]:
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


def _where(
    case: str, written: object, inputs: Mapping[str, Recipe], faults: list[Fault]
) -> tuple[str, ...]:
    """The conditions of a case; what is wrong with them is added to the faults."""
    found = written if isinstance(written, list) else [written]
    for condition in found:
        try:
            if not isinstance(condition, str):
                raise AmountError(f"expected a comparison in quotes, found {condition!r}")
            from grader.cases import conditions  # with numpy, only where a case has any

            wrong = sorted(conditions.names(condition) - inputs.keys())
            if wrong:
                near = _near(wrong[0], list(inputs))
                raise AmountError(f"expected an input of the case, found {wrong[0]!r}{near}")
        except AmountError as error:
            faults.append(((case, "where"), str(error)))
            return ()
    return tuple(found)


def _draws(case: str, written: object, inputs: Mapping[str, Recipe], faults: list[Fault]) -> int:
    """How many draws there are of a case; what is wrong with that is added to the faults."""
    if type(written) is not int or not 1 <= written <= MAX_DRAWS:
        text = f"expected a whole number from 1 to {MAX_DRAWS}, found {written!r}"
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
            found = "itself" if parent in chain else f"{parent!r}{_near(parent, others)}"
            text = f"expected the name of another case, found {found}"
            faults.append(((chain[-1], "extends"), text))
            break
        chain.append(parent)
    written: dict[str, Any] = {}
    for link in reversed(chain):
        written |= {k: v for k, v in cases[link].items() if link == name or k != "about"}
    return written
