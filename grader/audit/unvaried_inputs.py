"""Find properties of inputs that no case varies: a program that relies on one passes every check.

Mutants do not show this.  They are small changes of a reference that uses all its inputs.  No
mutant has eps built in, takes `abs(alpha)` or returns float64.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

from grader.cases.recipe import run_inputs
from grader.grading.evaluation import Evaluation
from grader.model.number_format import format_shape
from grader.model.question import Question
from grader.model.steps import Step

_REAL_NUMBER = re.compile(r"\ba number\b(?! of)|\bfloats?\b")
_INTEGER = re.compile(r"\bints?\b|\bwhole\b")

# Sentences of an interface or a contract that limit a number NAME.
_NUMBER = r"(?P<number>-?\d+(?:\.\d+)?(?:e-?\d+)?)(?![\d.]*\w| [-+*/])"
_BOUND = "(?:at least|at most|above|below)"
_LIMITS = (
    rf"\bNAME(?:(?:,|,? and) \w+)*(?:,? an? \w+,?)?(?: is| are)? "
    rf"(?:{_BOUND}|from|[<>]=?) {_NUMBER}",
    rf"\bNAME(?: is)? {_BOUND} [^ ]+ and {_BOUND} {_NUMBER}",
    rf"\bNAME(?: is)? from [^ ]+ to {_NUMBER}",
    rf"(?m)^ *# +NAME\b[^;\n]*\b{_BOUND} {_NUMBER}",
    rf"{_NUMBER} [<>]=? NAME\b",
)
_OPEN_LIMIT = re.compile(r"above|below|[<>](?!=)")  # the limit itself is not allowed

SMALL_PROBABILITY = 1e-6  # cases need a probability above 0 that is at most this
MAX_LIMIT_DISTANCE = 1e-12  # a number this close to a limit is at it
NEAR_ZERO_TEXT = "1.0e-20"  # suggested for a number that must be above 0
MIN_CASES_ALIKE = 3  # fewer cases may have equal sizes by chance

Array = np.ndarray[Any, Any]


def unvaried_inputs(question: Question, evaluation: Evaluation) -> Iterator[str]:
    """Yield a sentence on each property of the inputs that no case varies, most with a case to add.

    Further sentences say that no case is float32 although the texts promise it, and which arguments
    with a default are always or never passed.
    """
    values_by_input: dict[str, dict[str, Any]] = {}
    dtypes = set()
    for check in question.spec.checks:
        if check.stretch:
            continue
        for case in evaluation.cases_of(check):
            drawn = evaluation.drawn_inputs(case)
            dtypes.add(case.dtype)
            for name in run_inputs(question.runs[check.run]):
                values_by_input.setdefault(name, {})[case.name] = drawn[name]

    has_arrays = False
    for name, by_case in values_by_input.items():
        values = list(by_case.values())
        if any(isinstance(value, (str, type(None))) for value in values):
            continue
        if all(isinstance(value, (int, float)) for value in values):
            yield from _limit_sentences(question, name, by_case)
            sentence = _number_sentence(question, name, by_case)
        else:
            has_arrays = True
            sentence = _array_sentence(name, [np.asarray(value) for value in values])
        if sentence and len(values) > 1:
            yield sentence

    promises = [text for part in question.spec.parts for text in (part.interface, *part.contract)]
    promises_float32 = any("float32" in text for text in promises)
    if has_arrays and dtypes == {"float64"} and promises_float32:
        first_case = next(iter(evaluation.cases))
        further_case = _case_with_value(question, first_case, "dtype", "float32")
        yield f"no case is float32; add {further_case}"
    yield from _default_sentences(question)


# -- numbers --------------------------------------------------------------------------------------


def _number_sentence(question: Question, name: str, by_case: Mapping[str, Any]) -> str:
    """Return a sentence on a number that is always the same or whole; empty if it varies."""
    case, first = next(iter(by_case.items()))
    values = set(by_case.values())
    is_real = any(isinstance(value, float) for value in by_case.values())
    if len(values) > 1:
        # Sizes and indices are whole; anything that is called a number may not be.
        is_real = is_real or _is_called_real(question, name)
        if not is_real or not all(float(value).is_integer() for value in values):
            return ""
        constant = "a whole number"
    elif isinstance(first, bool):
        constant = str(first).lower()
    else:
        constant = f"{first:g}"

    if isinstance(first, bool):
        other = str(not first).lower()
    elif is_real:
        other = f"{1.5 * first + 0.25:g}"
    else:
        other = f"{first + 1:g}"
    further_case = _case_with_value(question, case, name, other)
    return f"every case has {name} {constant}; add {further_case}"


def _is_called_real(question: Question, name: str) -> bool:
    """Return True if a comment in an interface calls an input a number and not an integer."""
    lines = [line for part in question.spec.parts for line in part.interface.splitlines()]
    comments = " ".join(line for line in lines if re.search(rf"#.*\b{name}\b", line))
    return bool(_REAL_NUMBER.search(comments)) and not _INTEGER.search(comments)


def _limit_sentences(question: Question, name: str, by_case: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence on each stated limit of a number that no case has, with a case to add.

    For `eps above 0`, a tiny eps is asked for.  Other excluded limits are skipped.
    """
    first_case = next(iter(by_case))
    is_real = any(isinstance(value, float) for value in by_case.values())
    for limit, is_open in stated_limits(question, name).items():
        if is_open and (limit or not is_real):
            continue  # how near a number can come depends on the question
        nearest = min(abs(value - limit) for value in by_case.values())
        if nearest <= MAX_LIMIT_DISTANCE:
            continue
        place, value = ("near", NEAR_ZERO_TEXT) if is_open else ("at", f"{limit:g}")
        case = _case_with_value(question, first_case, name, value)
        yield f"no case has {name} {place} its limit {limit:g}; add {case}"


def stated_limits(question: Question, name: str) -> dict[float, bool]:
    """Return the limits of a number in interfaces and contracts; True if the limit is excluded.

    With `k at least 1` the limits of k are {1.0: False}, with `eps above 0` those of eps
    {0.0: True}.
    """
    limits: dict[float, bool] = {}
    for part in question.spec.parts:
        for text, pattern in product((part.interface, *part.contract), _LIMITS):
            for match in re.finditer(pattern.replace("NAME", re.escape(name)), text):
                limits.setdefault(float(match["number"]), bool(_OPEN_LIMIT.search(match[0])))
    return limits


def _case_with_value(question: Question, origin: str, key: str, value: str) -> str:
    """Return YAML of a case like `origin` with another value for one key, an input or dtype."""
    return suggested_case(question, f"other-{key}", origin, f"{key}: {value}")


def suggested_case(question: Question, name: str, origin: str, *changes: str) -> str:
    """Return YAML of a case under a free name: `NAME: {extends: ORIGIN, CHANGES}`."""
    name = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")
    while name in question.spec.cases:
        name += "-2"
    keys = ", ".join([f"extends: {origin}", *changes])
    return f"`{name}: {{{keys}}}`"


# -- arrays and arguments -------------------------------------------------------------------------


def _array_sentence(name: str, arrays: Sequence[Array]) -> str:
    """Return a sentence on properties of an array that no case varies; empty if all vary."""
    properties = [*_common_values(arrays), *_common_sizes([array.shape for array in arrays])]
    return f"{name} is {' and '.join(properties)}" if properties else ""


def _common_values(arrays: Sequence[Array]) -> Iterator[str]:
    """Yield properties that the entries of all arrays have, such as `never negative`."""
    if not all(array.dtype.kind == "f" for array in arrays):
        return
    if all(array.ndim and np.allclose(array.sum(axis=-1), 1) for array in arrays):
        smallest = min(array[array > 0].min(initial=1.0) for array in arrays)
        if smallest > SMALL_PROBABILITY:
            yield f"never between 0 and {smallest:.2g}"
    if all((array == np.floor(array)).all() for array in arrays):
        yield "always whole"
    if not any((array < 0).any() for array in arrays):
        yield "never negative"


def _common_sizes(shapes: Sequence[tuple[int, ...]]) -> Iterator[str]:
    """Yield properties that all shapes have, such as `always of size 2 along axis 0`.

    There are none for fewer than MIN_CASES_ALIKE shapes, or if their numbers of axes differ.
    """
    first = shapes[0]
    if len(shapes) < MIN_CASES_ALIKE or not first or len({len(shape) for shape in shapes}) > 1:
        return
    if not any({0, 1} & {*shape} for shape in shapes):
        yield "never of size 1"
    axes = range(len(first))
    constant = [axis for axis in axes if len({shape[axis] for shape in shapes}) == 1]
    if len(constant) == len(axes):
        yield f"always of shape {format_shape(first)}"
        return
    for axis in constant:
        yield f"always of size {first[axis]} along axis {axis}"
    for pair in combinations(axes, 2):
        a, b = pair
        if not {*pair} <= {*constant} and all(shape[a] == shape[b] for shape in shapes):
            yield f"always of one size along axes {a} and {b}"


def _default_sentences(question: Question) -> Iterator[str]:
    """Yield a sentence on each parameter with a default that steps always or never pass.

    No case shows what happens in the other situation.
    """
    if question.driver_functions:  # a driver may call the functions in any way
        return
    steps = [step for run in question.runs.values() for step in run if step.owner == "submission"]
    for node in ast.parse(question.reference).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        calls = [step for step in steps if step.function == node.name]
        if not calls:
            continue
        names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        for name in names[len(names) - len(node.args.defaults) :]:
            is_given = {_is_given(name, names, step) for step in calls}
            if is_given == {True}:
                yield f"{name} of {node.name} is given in every step"
            elif is_given == {False}:
                yield f"{name} of {node.name} is left out in every step"


def _is_given(name: str, names: Sequence[str], step: Step) -> bool:
    """Return True if a step passes an argument for a parameter; `names` has all, in order."""
    positional = sum(argument.keyword is None for argument in step.arguments)
    keywords = {argument.keyword for argument in step.arguments}
    return name in names[:positional] or name in keywords
