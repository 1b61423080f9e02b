"""How a case and its inputs are written in YAML, checked and resolved without numpy.

`docs/keys.md` lists the generators and modifiers, from their lines here.  At the end, what the
steps of a run read and give, and so the cases that they can be tried on.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from grader.model.errors import did_you_mean
from grader.model.limits import GRADE_SECONDS, MAX_CASE_ENTRIES, MAX_DRAWS
from grader.model.question import Step
from grader.model.spec import Check, Limits

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
}
OPTIONS: dict[str, tuple[str, ...]] = {
    "uniform": ("from", "to"),
    "integers": ("from", "to"),
    "distinct": ("gap",),
    "full": ("value",),
}
REQUIRED_OPTIONS: dict[str, tuple[str, ...]] = {"integers": ("from", "to"), "full": ("value",)}
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

MAX_DIMS = 8  # what the protocol carries

suggest_word = functools.partial(
    did_you_mean, parts=False
)  # a sentence, where a word is nearly right


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
        return self.generator == "simplex" or bool(self.option("sort"))

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
            found = f"found the key {key!r}{suggest_word(key, allowed)}"
            raise RecipeError(f"{generator} takes {', '.join(allowed)}, {found}", key)
    for key, words in (("dtype", DTYPES), ("layout", LAYOUTS)):
        if value.get(key) not in (None, *words):
            raise RecipeError(unknown_word_message(value[key], words), key)
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
    hint = next(filter(None, (suggest_word(key, GENERATORS) for key in words)), "")
    if [*value.values()] == [None]:
        hint = f"; the place of a number needs quotes, '{{{next(iter(value))}}}'"
    raise RecipeError(
        f"expected exactly one generator ({', '.join(GENERATORS)}), "
        f"found {', '.join(value) or 'nothing'}{hint}"
    )


def _check_options(generator: str, options: Mapping[str, Any]) -> None:
    for key in ("from", "to", "gap", "value", "scale", "shift"):
        number = options.get(key, 0)
        if not is_number(number):
            raise RecipeError(f"expected a number, found {number!r}", key)
        if key != "value" and not math.isfinite(number):
            raise RecipeError(f"expected a finite number, found {number!r}", key)
        whole = generator == "integers" and key in {"from", "to"}
        if whole and (int(number) != number or abs(number) > 1 << 53):
            raise RecipeError(f"expected a whole number, found {number!r}", key)
    if not options.keys() >= set(needed := REQUIRED_OPTIONS.get(generator, ())):
        raise RecipeError(f"{generator} needs {' and '.join(needed)}")
    if generator in {"integers", "uniform"} and options.get("from", 0) > options.get("to", 1):
        raise RecipeError("expected from to be at most to", "from")
    if options.get("gap", 1) <= 0:
        raise RecipeError(f"expected a gap above 0, found {options['gap']!r}", "gap")
    if not isinstance(options.get("sort", False), bool):
        raise RecipeError(f"expected true or false, found {options['sort']!r}", "sort")
    sprinkle = options.get("sprinkle")
    if sprinkle is not None and not (
        isinstance(sprinkle, dict)
        and sprinkle.keys() == {"value", "share"}
        and all(map(is_number, sprinkle.values()))
        and 0 <= sprinkle["share"] <= 1
    ):
        raise RecipeError("expected {value: NUMBER, share: NUMBER from 0 to 1}", "sprinkle")


def is_number(value: object) -> bool:
    """Whether YAML gives a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def unknown_word_message(value: object, allowed: Sequence[str]) -> str:
    """What is expected and found of a word that has to be one of a list."""
    listed = ", ".join(allowed)
    return f"expected one of {listed}, found {value!r}{suggest_word(value, allowed)}"


def _shaped(recipe: Recipe, written: object) -> Recipe:
    """An input with the shape that is written: sizes, one size, or that of another by name."""
    if isinstance(written, str) and written.startswith("like "):
        return replace(recipe, like=written.removeprefix("like ").strip())
    sizes: list[Any] = written if isinstance(written, list) else [written]
    wrong = ""
    if not all(type(size) is int and size >= 0 for size in sizes):
        wrong = f"a shape (a list of sizes) or 'like NAME', found {written!r}"
    elif len(sizes) > MAX_DIMS or math.prod(sizes) > MAX_CASE_ENTRIES:
        wrong = f"at most {MAX_DIMS} dimensions and {MAX_CASE_ENTRIES:,} entries, found {sizes}"
    elif not sizes and recipe.needs_axis:
        wrong = "at least one dimension, found []"
    if wrong:
        raise RecipeError(f"expected {wrong}", recipe.generator)
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


# -- cases ----------------------------------------------------------------------------------------

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

CaseError = tuple[tuple[str | int, ...], str]  # the keys that lead to it, and a sentence
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
    def extra_draw_names(self) -> tuple[str, ...]:
        """What its further draws are called."""
        return tuple(f"{self.name} ({number})" for number in range(2, self.draws + 1))


def read_cases(
    cases: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, CaseRecipe], list[CaseError]]:
    """Read all cases, resolving `extends`.

    Returns:
        The cases, and what is wrong with them: in place of what cannot be read stands a default.
    """
    faults: list[CaseError] = []
    return {name: _case(name, cases, faults) for name in cases}, faults


def expand_draws(cases: Mapping[str, CaseRecipe]) -> dict[str, CaseRecipe]:
    """The cases with further draws of them as cases of their own."""
    return {
        name: replace(case, name=name)
        for case in cases.values()
        for name in (case.name, *case.extra_draw_names)
    }


def shape_source_chain(name: str, inputs: Mapping[str, Recipe]) -> list[str]:
    """The names from which an input takes its shape, nearest first; its own where they circle."""
    chain: list[str] = []
    like = inputs[name].like
    while like is not None and like not in chain:
        chain.append(like)
        like = inputs[like].like if like in inputs else None
    return chain


def _case(name: str, cases: Mapping[str, Mapping[str, Any]], faults: list[CaseError]) -> CaseRecipe:
    """Read one case, and note what is wrong with it."""

    def note(text: str, *keys: str, case: str = name) -> None:
        faults.append((("cases", case, *keys), text))

    written, inputs = _written(name, cases, note), dict[str, Recipe]()
    for key in (key for key in written if key not in RESERVED):
        inputs[key] = Recipe(None)  # where it cannot be read: so nothing else need complain
        try:
            inputs[key] = read_input(written[key])
        except RecipeError as error:
            if key in cases[name]:  # else the case that it comes from says so
                note(str(error), key, *([] if error.key is None else [error.key]))
    dtype, layout = written.get("dtype", "float64"), written.get("layout", "contiguous")
    for option, value, allowed in (("dtype", dtype, FLOATS), ("layout", layout, LAYOUTS)):
        if value not in allowed:
            note(unknown_word_message(value, allowed), option)
    frozen = written.get("frozen", [])
    if not isinstance(frozen, list) or not all(n in list(inputs) for n in frozen):
        note(f"expected a list of this case's inputs, found {frozen!r}", "frozen")
        frozen = []
    for key, recipe in inputs.items():
        if key in shape_source_chain(key, inputs):
            note(f"{key} cannot take its own shape", key)
        elif recipe.like in inputs and not inputs[recipe.like].is_array:
            if isinstance(text := written[recipe.like], str):
                found = f"found the text {text!r}; a text that holds a comma needs quotes in a row"
                note(f"expected an array, which {key} is 'like', {found}", recipe.like)
            else:
                note(f"expected 'like' an array, found {recipe.like}", key)
    # Where only a result says how many an input has, it has none here.
    last = (inputs.get([key, *shape_source_chain(key, inputs)][-1], Recipe(None)) for key in inputs)
    entries = sum(math.prod(one.shape) for one in last if one.shape is not None)
    if entries > MAX_CASE_ENTRIES:
        note(f"expected at most {MAX_CASE_ENTRIES:,} entries in all inputs, found {entries:,}")
    limits = Limits()
    try:
        limits = Limits.model_validate(written.get("limits", {}))
    except ValidationError:
        known = f"cpu_seconds or wall_seconds, above 0 and up to {GRADE_SECONDS}"
        note(f"expected {known}, found {written['limits']!r}", "limits")
    draws, wrong = written.get("draws", 1), ""
    if type(draws) is not int or not 1 <= draws <= MAX_DRAWS:
        wrong = f"expected a whole number from 1 to {MAX_DRAWS}, found {draws!r}"
        if isinstance(draws, (dict, list)):
            wrong += "; draws is a word of cases: an input needs another name"
    elif draws > 1 and not any(recipe.is_drawn for recipe in inputs.values()):
        wrong = "expected inputs that are drawn, found only fixed ones: all draws are the same"
    if wrong:
        note(wrong, "draws")
    about, frozen = written.get("about", ""), tuple(frozen)
    if not isinstance(about, str):
        found = "a list" if isinstance(about, list) else repr(about)
        note(f"expected a text, found {found}; is a cell missing?", "about")
    return CaseRecipe(
        name, inputs, str(about), str(dtype), str(layout), frozen, limits, 1 if wrong else draws
    )


def _written(
    name: str, cases: Mapping[str, Mapping[str, Any]], note: Callable[..., None]
) -> dict[str, Any]:
    """The keys of a case with those of the cases that it extends."""
    chain = [name]
    while "extends" in cases[chain[-1]]:
        parent = cases[chain[-1]]["extends"]
        if not isinstance(parent, str) or parent not in cases or parent in chain:
            others = [case for case in cases if case not in chain]
            found = "itself" if parent in chain else f"{parent!r}{suggest_word(parent, others)}"
            note(f"expected the name of another case, found {found}", "extends", case=chain[-1])
            break
        chain.append(parent)
    before = {k: v for link in chain[:0:-1] for k, v in cases[link].items() if k != "about"}
    return {**before, **cases[name]}


# -- what steps read and give ----------------------------------------------------------------------


def cases_of_check(
    check: Check, steps: tuple[Step, ...], cases: dict[str, CaseRecipe]
) -> list[str]:
    """The cases of a check, in the order of the file; `all`: those that have the run's inputs."""
    if check.cases == "all":
        wanted = run_inputs(steps).keys()
        return [name for name, case in cases.items() if wanted <= case.inputs.keys()]
    listed = [check.cases] if isinstance(check.cases, str) else list(check.cases)
    draws = (cases[name].extra_draw_names if name in cases else () for name in listed)
    return [
        each
        for name, others in zip(listed, draws, strict=True)
        for each in (name, *(other for other in others if other in cases))
    ]


def run_inputs(steps: Iterable[Step]) -> dict[str, Step]:
    """The inputs: names that are read before a step assigns them, each with its first reader."""
    assigned: set[str] = set()
    free: dict[str, Step] = {}
    for step in steps:
        for name in step.names_read:
            if name not in assigned:
                free.setdefault(name, step)
        assigned.update(step.targets)
    return free


def assigned_names(steps: Iterable[Step]) -> list[str]:
    """Names that the steps assign."""
    return [name for step in steps for name in step.targets]


def steps_producing(steps: Sequence[Step], name: str) -> tuple[Step, ...]:
    """The steps that a result needs, in order, and no others."""
    needed, kept = {name}, []
    for step in reversed(steps):
        if needed & set(step.targets):
            kept.append(step)
            needed |= set(step.names_read)
    return tuple(reversed(kept))
