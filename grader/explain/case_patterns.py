"""On which cases is a result wrong?  A property that every failing case has and no right one.

Where two properties separate, both are named, because nothing tells them apart; where more, none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from grader.explain.observation import Observation, axis_in_words, to_float64
from grader.grading.values import Value, to_array
from grader.sandbox.worker.wire import Tensor

MIN_FAILING_CASES = 3  # cases at least,
MIN_FAILING_FORMS = 2  # of so many shapes or numbers
MIN_RIGHT_CASES = 4  # cases at least,
MIN_ORIGINS = 2  # made from so many cases of the question; or one less, each from its own
MAX_PROPERTIES = 2  # properties that are named together
NOT_ONE_SUFFIX = " is not 1"
AMBIGUITY_NOTE = " (these cases do not tell which of both matters)"


def separating_properties(failing: Sequence[Observation], right: Sequence[Observation]) -> str:
    """What tells the failing cases from the right ones, as "x is empty"; '' where nothing does."""
    if (
        len(failing) < MIN_FAILING_CASES
        or len({seen.input_form for seen in failing}) < MIN_FAILING_FORMS
    ):
        return ""
    origins = len({seen.origin for seen in right})
    if origins < MIN_ORIGINS or max(len(right), origins + 1) < MIN_RIGHT_CASES:
        return ""
    shared = _shared(failing)
    for seen in right:
        theirs = case_properties(seen)
        # What cannot be asked of a right case says nothing on it.
        shared = [name for name in shared if theirs.get(name) is False]
    also = set()  # what is not 0 or above 1 need not be called not 1
    for name in (n.removesuffix(NOT_ONE_SUFFIX) for n in shared if n.endswith(NOT_ONE_SUFFIX)):
        also |= (
            {name + NOT_ONE_SUFFIX}
            if sum(n.startswith(f"{name} is ") for n in shared) > 1
            else set()
        )
    found = sorted(set(shared) - also, key=lambda name: (len(name), shared.index(name)))
    # An input that is no array, and never varies where it is right, may be the cause as well.
    pinned = set()
    for name, value in failing[0].input_values.items():
        if not isinstance(value, (np.ndarray, Tensor)):
            wrong, fine = (
                {repr(c.input_values.get(name)) for c in some} for some in (failing, right)
            )
            pinned |= {name} if len(fine) == 1 and wrong - fine else set()
    if len(found) > MAX_PROPERTIES or any(
        not pinned <= set(re.findall(r"\w+", name)) for name in found
    ):
        return ""
    return " and ".join(found) + (AMBIGUITY_NOTE if len(found) > 1 else "")


def may_be_separable(failing: Sequence[Observation], right: Sequence[Observation]) -> bool:
    """Whether anything tells these cases apart so far, so that more of them are worth a look."""
    theirs = [case_properties(seen) for seen in right]
    return any(not any(known.get(name) for known in theirs) for name in _shared(failing))


def _shared(failing: Sequence[Observation]) -> list[str]:
    """The properties that all of them have."""
    each = [[name for name, has in case_properties(seen).items() if has] for seen in failing]
    return [name for name in each[0] if all(name in one for one in each)] if each else []


def case_properties(seen: Observation) -> Mapping[str, bool]:
    """Whether each property holds of a case; those that cannot be asked of it are left out."""
    found: dict[str, bool] = {}
    for name, value in seen.input_values.items():
        if isinstance(value, str):
            found[f"{name} is {value!r}"] = True
        elif isinstance(value, bool):
            found |= {f"{name} is {value}": True, f"{name} is {not value}": False}
        elif isinstance(value, (int, float)):
            found |= {f"{name} {words}": has for words, has in _of_number(value)}
        elif isinstance(value, (np.ndarray, Tensor)):
            found |= dict(_of_array(name, value))
    for dtype in ("float32", "bfloat16"):
        found[f"the arrays are {dtype}"] = seen.dtype == dtype
    right, should = seen.expected_value, f"{seen.result} should"
    found[f"{should} be None"] = right is None
    if isinstance(right, (bool, np.bool_)):
        found |= {f"{should} be {bool(right)}": True, f"{should} be {not right}": False}
    if isinstance(right, (int, np.integer)):
        found |= {f"{should} be {small}": int(right) == small for small in (0, 1)}
    values = to_float64(right)
    if values is not None and values.ndim and values.size:
        found[f"{should} hold minus infinity"] = bool(np.isneginf(values).any())
    return found


def _of_number(number: float) -> Iterator[tuple[str, bool]]:
    yield from (("is 0", number == 0), ("is not 0", number != 0))
    yield from (("is negative", number < 0), ("is not negative", number >= 0))
    if number > 0:
        yield from (("is 1", number == 1), ("is above 1", number > 1))
    if isinstance(number, float):
        yield NOT_ONE_SUFFIX.strip(), number != 1


def _of_array(name: str, value: Value) -> Iterator[tuple[str, bool]]:
    array = np.asarray(to_array(value))
    yield f"{name} is empty", array.size == 0
    yield f"{name} is one-dimensional", array.ndim == 1
    for axis, length in enumerate(array.shape):
        if where := axis_in_words(name, axis, array.ndim):
            yield f"{where} is 1", length == 1
    if array.dtype.kind == "f" and array.size:
        finite = array[np.isfinite(array)]
        yield f"{name} holds infinities", finite.size < array.size
        yield f"{name} has equal entries", bool(np.unique(finite).size < finite.size)
        yield f"{name} is 0 throughout", not array.any()
