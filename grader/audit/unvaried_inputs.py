"""What the cases of a question never vary: a program that relies on it passes every check.

Mutants are small changes of a reference that computes with what it is given; nobody who has eps
built in, takes `abs(alpha)` or returns float64 wrote one of them.
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

_REAL, _WHOLE = re.compile(r"\ba number\b(?! of)|\bfloats?\b"), re.compile(r"\bints?\b|\bwhole\b")
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
_OPEN = re.compile(r"above|below|[<>](?!=)")  # the limit itself is not allowed
SMALL_PROBABILITY = 1e-6  # a probability
NEARLY_ZERO = 1e-12  # a number above 0 that is hardly above it
MIN_CASES_ALIKE = 3  # of which it may be said that all their sizes are alike


def unvaried_inputs(question: Question, evaluation: Evaluation) -> Iterator[str]:
    """A sentence on each input that no case varies in some way, and a case that would."""
    given: dict[str, dict[str, Any]] = {}
    dtypes, arrays = set(), False
    for check in question.spec.checks:
        for case in [] if check.stretch else evaluation.cases_of(check):
            drawn = evaluation.drawn_inputs(case)
            dtypes.add(case.dtype)
            for name in run_inputs(question.runs[check.run]):
                given.setdefault(name, {})[case.name] = drawn[name]
    for name, values in given.items():
        if any(isinstance(one, (str, type(None))) for one in values.values()):
            continue
        if all(isinstance(one, (int, float)) for one in values.values()):
            yield from _at_limits(question, name, values)
            said = _of_numbers(question, name, values)
        else:
            arrays = True
            said = _of_arrays([np.asarray(one) for one in values.values()])
            said = said and f"{name} is {said}"
        if said and len(values) > 1:
            yield said
    promised = (" ".join([one.interface, *one.contract]) for one in question.spec.parts)
    if arrays and dtypes == {"float64"} and any("float32" in text for text in promised):
        first = next(iter(evaluation.cases))
        yield f"no case is float32; add {_further(question, first, 'dtype', 'float32')}"
    yield from _arguments(question)


def _of_numbers(question: Question, name: str, values: Mapping[str, Any]) -> str:
    """What is the same of a number in every case, and a case in which it is not."""
    case, first = next(iter(values.items()))
    numbers, is_float = {*values.values()}, any(isinstance(v, float) for v in values.values())
    if len(numbers) > 1:  # a size or an index is whole, what is called a number need not be
        lines = [line for one in question.spec.parts for line in one.interface.splitlines()]
        said = " ".join(line for line in lines if re.search(rf"#.*\b{name}\b", line))
        is_float |= bool(_REAL.search(said)) and not _WHOLE.search(said)
    if isinstance(first, bool):
        told, other = str(first).lower(), str(not first).lower()
    else:
        told, other = f"{first:g}", f"{1.5 * first + 0.25 if is_float else first + 1:g}"
    if len(numbers) > 1:
        if not is_float or not all(float(one).is_integer() for one in numbers):
            return ""
        told = "a whole number"
    return f"every case has {name} {told}; add {_further(question, case, name, other)}"


def _at_limits(question: Question, name: str, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on limits that are stated of a number and that no case comes near."""
    first = next(iter(values))
    is_real = any(isinstance(value, float) for value in values.values())
    for limit, is_open in stated_limits(question, name).items():
        if is_open and (limit or not is_real):
            continue  # how near a number can come depends on the question
        nearest = min(abs(value - limit) for value in values.values())
        if nearest > NEARLY_ZERO:
            near, value = ("near", "1.0e-20") if is_open else ("at", f"{limit:g}")
            case = _further(question, first, name, value)
            yield f"no case has {name} {near} its limit {limit:g}; add {case}"


def stated_limits(question: Question, name: str) -> dict[float, bool]:
    """Return limits that the texts set to a number, and whether the limit itself is forbidden."""
    found: dict[float, bool] = {}
    for part in question.spec.parts:
        for text, pattern in product((part.interface, *part.contract), _LIMITS):
            for match in re.finditer(pattern.replace("NAME", re.escape(name)), text):
                found.setdefault(float(match["number"]), bool(_OPEN.search(match[0])))
    return found


def _further(question: Question, case: str, key: str, value: str) -> str:
    """Return a further case with another value of an input."""
    return suggested_case(question, f"other-{key}", case, f"{key}: {value}")


def suggested_case(question: Question, name: str, origin: str, *changes: str) -> str:
    """Return YAML of a case that extends another one, under a name that is free."""
    name = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")
    while name in question.spec.cases:
        name += "-2"
    return f"`{name}: {{{', '.join([f'extends: {origin}', *changes])}}}`"


def _of_arrays(arrays: Sequence[np.ndarray[Any, Any]]) -> str:
    """What is the same of an array in every case."""
    told = []
    if all(one.dtype.kind == "f" for one in arrays):
        if all(one.ndim and np.allclose(one.sum(axis=-1), 1) for one in arrays):
            smallest = min(one[one > 0].min(initial=1.0) for one in arrays)
            if smallest > SMALL_PROBABILITY:
                told.append(f"never between 0 and {smallest:.2g}")
        if all((one == np.floor(one)).all() for one in arrays):
            told.append("always whole")
        if not any((one < 0).any() for one in arrays):
            told.append("never negative")
    shapes = [one.shape for one in arrays]
    if len(shapes) < MIN_CASES_ALIKE or not shapes[0] or len({*map(len, shapes)}) > 1:
        return " and ".join(told)
    if not any({0, 1} & {*shape} for shape in shapes):
        told.append("never of size 1")
    axes = range(len(shapes[0]))
    same = [axis for axis in axes if len({shape[axis] for shape in shapes}) == 1]
    if len(same) == len(axes):
        told.append(f"always of shape {format_shape(shapes[0])}")
    else:
        told += [f"always of size {shapes[0][axis]} along axis {axis}" for axis in same]
        told += [
            f"always of one size along axes {one} and {other}"
            for one, other in combinations(axes, 2)
            if not {one, other} <= {*same} and all(s[one] == s[other] for s in shapes)
        ]
    return " and ".join(told)


def _arguments(question: Question) -> Iterator[str]:
    """Arguments with a default that every step of the question gives, or that none does."""
    if question.driver_functions:  # which calls the functions as it likes
        return
    calls = [step for run in question.runs.values() for step in run if step.owner == "submission"]
    for node in ast.parse(question.reference).body:
        made = [step for step in calls if step.function == getattr(node, "name", "")]
        if not isinstance(node, ast.FunctionDef) or not made:
            continue
        names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
        for name in names[len(names) - len(node.args.defaults) :]:
            given = {
                name in names[: sum(one.keyword is None for one in step.arguments)]
                or any(one.keyword == name for one in step.arguments)
                for step in made
            }
            if len(given) == 1:
                how = "given in every step" if given.pop() else "left out in every step"
                yield f"{name} of {node.name} is {how}"
