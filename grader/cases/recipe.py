"""Read and check the cases of a question and their inputs, as YAML has them, without numpy.

A recipe says how an input is drawn: `{normal: [2, 3], scale: 0.1}` has the generator `normal`, a
shape and the modifier `scale`.

`docs/keys.md` shows the texts below for generators, modifiers and keys.  The functions at the end
tell which inputs the steps of a run need, and on which cases a check runs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from grader.model.errors import SpecError, did_you_mean
from grader.model.limits import GRADE_SECONDS, MAX_CASE_ENTRIES, MAX_DRAWS
from grader.model.spec import Check, Limits
from grader.model.steps import Step

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

MAX_DIMS = 8  # the protocol carries no more

# Returns a suggestion for a misspelled word, or "".
suggest_word = functools.partial(did_you_mean, parts=False)


class RecipeError(Exception):
    """An input is not written as the format says.  `key` is the faulty key, if a single one is."""

    def __init__(self, message: str, key: str | None = None) -> None:
        """Store a sentence of the form 'expected ..., found ...'."""
        super().__init__(message)
        self.key = key


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to draw one input.  A scalar has `generator` None and its value in `literal`."""

    generator: str | None
    literal: Any = None
    shape: tuple[int, ...] | None = None
    like: str | None = None  # the input or result whose shape it takes
    options: Mapping[str, Any] = field(default_factory=dict)
    dtype: str | None = None
    layout: str | None = None

    @property
    def is_array(self) -> bool:
        """True if the input is an array, False if it is a scalar."""
        return self.generator is not None

    @property
    def is_drawn(self) -> bool:
        """True if the input is random: another draw gives other values."""
        fixed = {None, "array", "zeros", "ones", "full"}
        return self.generator not in fixed or bool(self.option("sprinkle"))

    @property
    def needs_axis(self) -> bool:
        """True if the input must have at least one dimension."""
        return self.generator == "simplex" or bool(self.option("sort"))

    def option(self, name: str) -> Any:  # noqa: ANN401 any YAML value
        """Return an option or modifier, or None if it is not given."""
        return self.options.get(name)


def read_input(value: object) -> Recipe:
    """Read one input: a scalar, nested lists, or a mapping such as {normal: [2, 3]}.

    Raises:
        RecipeError: the input is not written as the format says.
    """
    if isinstance(value, list):
        _check_rectangular(value)
        return Recipe("array", literal=value)
    if not isinstance(value, dict):
        return Recipe(None, literal=value)
    generator = _find_generator(value)
    allowed_keys = [*OPTIONS.get(generator, ()), *MODIFIERS]
    for key in value:
        if key != generator and key not in allowed_keys:
            hint = suggest_word(key, allowed_keys)
            raise RecipeError(
                f"{generator} takes {', '.join(allowed_keys)}, found the key {key!r}{hint}", key
            )
    for key, words in (("dtype", DTYPES), ("layout", LAYOUTS)):
        if value.get(key) not in (None, *words):
            raise RecipeError(unknown_word_message(value[key], words), key)
    options = {k: v for k, v in value.items() if k not in {generator, "dtype", "layout"}}
    _check_options(generator, options)
    recipe = Recipe(
        generator, options=options, dtype=value.get("dtype"), layout=value.get("layout")
    )
    if generator != "array":
        return _with_shape(recipe, value[generator])
    _check_rectangular(value[generator])
    return replace(recipe, literal=value[generator])


def _find_generator(value: Mapping[str, Any]) -> str:
    """Return the generator of an input, or raise unless the mapping names exactly one."""
    generators = [key for key in value if key in GENERATORS]
    if len(generators) == 1:
        return generators[0]
    hint = ""
    if list(value.values()) == [None]:
        hint = f"; the place of a number needs quotes, '{{{next(iter(value))}}}'"
    elif not generators:
        suggestions = [suggest_word(key, GENERATORS) for key in value if key not in MODIFIERS]
        hint = next(filter(None, suggestions), "")
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
        must_be_whole = generator == "integers" and key in {"from", "to"}
        if must_be_whole and (int(number) != number or abs(number) > 1 << 53):
            raise RecipeError(f"expected a whole number, found {number!r}", key)
    required = REQUIRED_OPTIONS.get(generator, ())
    if not options.keys() >= set(required):
        raise RecipeError(f"{generator} needs {' and '.join(required)}")
    if generator in {"integers", "uniform"} and options.get("from", 0) > options.get("to", 1):
        raise RecipeError("expected from to be at most to", "from")
    if options.get("gap", 1) <= 0:
        raise RecipeError(f"expected a gap above 0, found {options['gap']!r}", "gap")
    if not isinstance(options.get("sort", False), bool):
        raise RecipeError(f"expected true or false, found {options['sort']!r}", "sort")
    sprinkle = options.get("sprinkle")
    if sprinkle is not None and not _is_sprinkle(sprinkle):
        raise RecipeError("expected {value: NUMBER, share: NUMBER from 0 to 1}", "sprinkle")


def _is_sprinkle(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"value", "share"}
        and all(map(is_number, value.values()))
        and 0 <= value["share"] <= 1
    )


def is_number(value: object) -> bool:
    """Return True for an int or a float, False for a bool."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def unknown_word_message(value: object, allowed: Sequence[str]) -> str:
    """Return the message for a value that is not an allowed word."""
    hint = suggest_word(value, allowed)
    return f"expected one of {', '.join(allowed)}, found {value!r}{hint}"


def _with_shape(recipe: Recipe, written: object) -> Recipe:
    """Add the shape, written as a list of sizes, as one size, or as 'like NAME'."""
    if isinstance(written, str) and written.startswith("like "):
        return replace(recipe, like=written.removeprefix("like ").strip())
    sizes: list[Any] = written if isinstance(written, list) else [written]
    problem = ""
    if not all(type(size) is int and size >= 0 for size in sizes):
        problem = f"a shape (a list of sizes) or 'like NAME', found {written!r}"
    elif len(sizes) > MAX_DIMS or math.prod(sizes) > MAX_CASE_ENTRIES:
        problem = f"at most {MAX_DIMS} dimensions and {MAX_CASE_ENTRIES:,} entries, found {sizes}"
    elif not sizes and recipe.needs_axis:
        problem = "at least one dimension, found []"
    if problem:
        raise RecipeError(f"expected {problem}", recipe.generator)
    return replace(recipe, shape=tuple(sizes))


def _check_rectangular(value: object) -> tuple[int, ...]:
    """Return the shape of nested lists of numbers; raise if it is not the same everywhere."""
    if not isinstance(value, list):
        if not isinstance(value, (int, float)):
            raise RecipeError(f"expected numbers in an array, found {value!r}")
        return ()
    shapes = {_check_rectangular(item) for item in value}
    if len(shapes) > 1:
        raise RecipeError("the rows of an array differ in length")
    return (len(value), *next(iter(shapes), ()))


# -- cases ----------------------------------------------------------------------------------------

WrittenCases = Mapping[str, Mapping[str, Any]]  # as YAML has them, by name
Inputs = Mapping[str, Recipe]  # by name

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

_NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class CaseRecipe:
    """A case: its inputs in the order written, and the settings of the whole case."""

    name: str
    inputs: Inputs
    about: str = ""
    dtype: str = "float64"
    layout: str = "contiguous"
    frozen: tuple[str, ...] = ()
    limits: Limits = _NO_LIMITS
    draws: int = 1

    @property
    def extra_draw_names(self) -> tuple[str, ...]:
        """Names of all draws except the first: "small (2)", "small (3)" for the case "small"."""
        return tuple(f"{self.name} ({number})" for number in range(2, self.draws + 1))


def read_cases(cases: WrittenCases) -> tuple[dict[str, CaseRecipe], list[SpecError]]:
    """Read all cases; a case that `extends` another takes over its keys.

    Returns:
        The cases and their errors.  A default stands in for each key that cannot be read.
    """
    errors: list[SpecError] = []
    return {name: _read_case(name, cases, errors) for name in cases}, errors


def expand_draws(cases: Mapping[str, CaseRecipe]) -> dict[str, CaseRecipe]:
    """Return the cases by name, and each extra draw as a case with a name such as "small (2)"."""
    return {
        name: replace(case, name=name)
        for case in cases.values()
        for name in (case.name, *case.extra_draw_names)
    }


def shape_source_chain(name: str, inputs: Inputs) -> list[str]:
    """Follow `like` from an input to the names whose shape it takes, nearest first.

    A circular chain stops before it repeats a name, so it contains the name of the input itself.
    """
    chain: list[str] = []
    like = inputs[name].like
    while like is not None and like not in chain:
        chain.append(like)
        like = inputs[like].like if like in inputs else None
    return chain


_Report = Callable[..., None]  # takes a message and the keys below the case that lead to the fault


def _read_case(name: str, cases: WrittenCases, errors: list[SpecError]) -> CaseRecipe:
    def report(message: str, *keys: str, case: str = name) -> None:
        errors.append((("cases", case, *keys), message))

    written = _with_inherited_keys(name, cases, report)
    inputs = _read_inputs(written, cases[name], report)
    dtype = _read_word(written, "dtype", "float64", FLOATS, report)
    layout = _read_word(written, "layout", "contiguous", LAYOUTS, report)
    frozen = written.get("frozen", [])
    if not isinstance(frozen, list) or not all(n in list(inputs) for n in frozen):
        report(f"expected a list of this case's inputs, found {frozen!r}", "frozen")
        frozen = []
    _check_shape_sources(inputs, written, report)
    _check_total_entries(inputs, report)
    limits = _read_limits(written, report)
    draws = _read_draws(written, inputs, report)
    about = written.get("about", "")
    if not isinstance(about, str):
        actual = "a list" if isinstance(about, list) else repr(about)
        report(f"expected a text, found {actual}; is a cell missing?", "about")
    return CaseRecipe(
        name=name,
        inputs=inputs,
        about=str(about),
        dtype=dtype,
        layout=layout,
        frozen=tuple(frozen),
        limits=limits,
        draws=draws,
    )


def extended_cases(name: str, cases: WrittenCases) -> list[str]:
    """Return a case, the case that it extends, and so on; stop at an unknown or repeated name."""
    chain: list[str] = []
    parent: object = name
    while isinstance(parent, str) and parent in cases and parent not in chain:
        chain.append(parent)
        parent = cases[parent].get("extends")
    return chain


def _with_inherited_keys(name: str, cases: WrittenCases, report: _Report) -> dict[str, Any]:
    """Return the keys of a case and those that it inherits by `extends`, except `about`.

    Report an `extends` that is unknown or leads back to a case of the chain.
    """
    chain = extended_cases(name, cases)
    last = chain[-1]
    if "extends" in cases[last]:
        parent = cases[last]["extends"]
        actual = "itself"
        if parent not in chain:
            others = [case for case in cases if case not in chain]
            actual = f"{parent!r}{suggest_word(parent, others)}"
        report(f"expected the name of another case, found {actual}", "extends", case=last)
    keys: dict[str, Any] = {}
    for ancestor in reversed(chain[1:]):
        keys.update(cases[ancestor])
    keys.pop("about", None)
    return {**keys, **cases[name]}


def _read_inputs(
    written: Mapping[str, Any], own_keys: Mapping[str, Any], report: _Report
) -> dict[str, Recipe]:
    inputs = {}
    for key, value in written.items():
        if key in RESERVED:
            continue
        try:
            inputs[key] = read_input(value)
        except RecipeError as error:
            inputs[key] = Recipe(None)  # else another key would report the name as unknown
            if key not in own_keys:
                continue  # reported by the case that has the key
            report(str(error), *(key,) if error.key is None else (key, error.key))
    return inputs


def _read_word(
    written: Mapping[str, Any], key: str, default: str, allowed: Sequence[str], report: _Report
) -> str:
    value = written.get(key, default)
    if value not in allowed:
        report(unknown_word_message(value, allowed), key)
    return str(value)


def _check_shape_sources(
    inputs: dict[str, Recipe], written: Mapping[str, Any], report: _Report
) -> None:
    for key, recipe in inputs.items():
        if key in shape_source_chain(key, inputs):
            report(f"{key} cannot take its own shape", key)
        elif recipe.like in inputs and not inputs[recipe.like].is_array:
            source = written[recipe.like]
            if isinstance(source, str):
                report(
                    f"expected an array, which {key} is 'like', found the text {source!r}; "
                    "a text that holds a comma needs quotes in a row",
                    recipe.like,
                )
            else:
                report(f"expected 'like' an array, found {recipe.like}", key)


def _check_total_entries(inputs: Inputs, report: _Report) -> None:
    entries = 0
    for key in inputs:
        # If the shape comes from a result, it is not known yet.
        source = inputs.get([key, *shape_source_chain(key, inputs)][-1])
        if source is not None and source.shape is not None:
            entries += math.prod(source.shape)
    if entries > MAX_CASE_ENTRIES:
        report(f"expected at most {MAX_CASE_ENTRIES:,} entries in all inputs, found {entries:,}")


def _read_limits(written: Mapping[str, Any], report: _Report) -> Limits:
    try:
        return Limits.model_validate(written.get("limits", {}))
    except ValidationError:
        expected = f"cpu_seconds or wall_seconds, above 0 and up to {GRADE_SECONDS}"
        report(f"expected {expected}, found {written['limits']!r}", "limits")
        return _NO_LIMITS


def _read_draws(written: Mapping[str, Any], inputs: Inputs, report: _Report) -> int:
    draws = written.get("draws", 1)
    problem = ""
    if type(draws) is not int or not 1 <= draws <= MAX_DRAWS:
        problem = f"expected a whole number from 1 to {MAX_DRAWS}, found {draws!r}"
        if isinstance(draws, (dict, list)):
            problem += "; draws is a word of cases: an input needs another name"
    elif draws > 1 and not any(recipe.is_drawn for recipe in inputs.values()):
        problem = "expected inputs that are drawn, found only fixed ones: all draws are the same"
    if not problem:
        return int(draws)
    report(problem, "draws")
    return 1


# -- inputs and results of steps ------------------------------------------------------------------


def cases_of_check(
    check: Check, steps: tuple[Step, ...], cases: dict[str, CaseRecipe]
) -> list[str]:
    """Return the names of a check's cases; `all` means every case that has the run's inputs.

    Each listed case is followed by its extra draws, as far as `cases` has them.
    """
    if check.cases == "all":
        needed = run_inputs(steps).keys()
        return [name for name, case in cases.items() if needed <= case.inputs.keys()]
    listed = [check.cases] if isinstance(check.cases, str) else check.cases
    names = []
    for name in listed:
        names.append(name)
        if name in cases:
            names += [draw for draw in cases[name].extra_draw_names if draw in cases]
    return names


def run_inputs(steps: Iterable[Step]) -> dict[str, Step]:
    """Return the names that are read before a step assigns them, each with its first reader."""
    assigned: set[str] = set()
    inputs: dict[str, Step] = {}
    for step in steps:
        for name in step.names_read:
            if name not in assigned:
                inputs.setdefault(name, step)
        assigned.update(step.targets)
    return inputs


def assigned_names(steps: Iterable[Step]) -> list[str]:
    """Return the names that the steps assign."""
    return [name for step in steps for name in step.targets]


def steps_producing(steps: Sequence[Step], name: str) -> tuple[Step, ...]:
    """Return the steps that a result needs, directly or through other results, in their order."""
    needed_names = {name}
    needed_steps = []
    for step in reversed(steps):
        if needed_names & set(step.targets):
            needed_steps.append(step)
            needed_names |= set(step.names_read)
    return tuple(reversed(needed_steps))
