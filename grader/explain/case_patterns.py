"""Find the property that every failing case has and no right case.

If two properties separate the cases, both are named, because these cases cannot tell which one
matters.  If more do, no property is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from grader.explain.observation import Observation, axis_in_words
from grader.grading.values import Value, to_array
from grader.sandbox.worker.wire import Tensor

Property = tuple[str, str]  # of a case: a subject, such as `x`, and a predicate, such as `is empty`
MIN_FAILING_CASES = 3
MIN_FAILING_FORMS = 2  # distinct shapes or numbers among the failing cases
MIN_RIGHT_CASES = 4
MIN_ORIGINS = 2  # different cases of the question behind the right cases
MAX_PROPERTIES = 2  # properties that are named together
NOT_ONE = "is not 1"
AMBIGUITY_NOTE = " (these cases do not tell which of both matters)"


def separating_properties(failing: Sequence[Observation], right: Sequence[Observation]) -> str:
    """Return the property that all failing cases have and no right case has, as "x is empty".

    Two properties are joined by "and".  The text is empty if no property or more than two separate
    the cases, if there is too little evidence, or if another input may be the cause.
    """
    if not _are_enough(failing, right):
        return ""
    shared = _shared_properties(failing)
    for observation in right:
        properties = case_properties(observation)
        # Drop a property that does not apply to a right case: nobody knows if it separates.
        shared = [name for name in shared if properties.get(name) is False]
    subjects = [subject for subject, _ in shared]
    # "n is not 1" follows from "n is above 1".
    texts = [
        f"{subject} {predicate}"
        for subject, predicate in shared
        if predicate != NOT_ONE or subjects.count(subject) == 1
    ]
    if len(texts) > MAX_PROPERTIES:
        return ""
    possible_causes = _differing_settings(failing, right)
    if not all(possible_causes <= set(re.findall(r"\w+", text)) for text in texts):
        return ""
    text = " and ".join(sorted(texts, key=len))
    return text + AMBIGUITY_NOTE if len(texts) > 1 else text


def _are_enough(failing: Sequence[Observation], right: Sequence[Observation]) -> bool:
    """Return True if enough failing cases differ in form, and enough right ones in origin."""
    if len(failing) < MIN_FAILING_CASES:
        return False
    if len({observation.input_form for observation in failing}) < MIN_FAILING_FORMS:
        return False
    origins = len({observation.origin for observation in right})
    # One right case fewer is enough if each comes from a different case of the question.
    return origins >= MIN_ORIGINS and max(len(right), origins + 1) >= MIN_RIGHT_CASES


def _differing_settings(failing: Sequence[Observation], right: Sequence[Observation]) -> set[str]:
    """Return inputs that have one value in all right cases, and another value in a failing case.

    Such an input may be the real cause.  Arrays are left out.
    """
    names = set()
    for name, value in failing[0].input_values.items():
        if isinstance(value, (np.ndarray, Tensor)):
            continue
        failing_values = {repr(observation.input_values.get(name)) for observation in failing}
        right_values = {repr(observation.input_values.get(name)) for observation in right}
        if len(right_values) == 1 and failing_values - right_values:
            names.add(name)
    return names


def may_be_separable(failing: Sequence[Observation], right: Sequence[Observation]) -> bool:
    """Return True if all failing cases share a property that no right case is known to have.

    Then it is worth trying more cases.
    """
    right_properties = [case_properties(observation) for observation in right]
    for name in _shared_properties(failing):
        if not any(properties.get(name) for properties in right_properties):
            return True
    return False


def _shared_properties(failing: Sequence[Observation]) -> list[Property]:
    """Return the properties that all failing cases have."""
    if not failing:
        return []
    all_properties = [case_properties(observation) for observation in failing]
    return [name for name in all_properties[0] if all(p.get(name) for p in all_properties)]


def case_properties(observation: Observation) -> Mapping[Property, bool]:
    """Map each property that makes sense for a case to True if the case has it, else False."""
    properties: dict[Property, bool] = {}
    for name, value in observation.input_values.items():
        if isinstance(value, str):
            properties[name, f"is {value!r}"] = True
        elif isinstance(value, bool):
            properties[name, f"is {value}"] = True
            properties[name, f"is {not value}"] = False
        elif isinstance(value, (int, float)):
            for predicate, holds in _number_properties(value):
                properties[name, predicate] = holds
        elif isinstance(value, (np.ndarray, Tensor)):
            properties.update(_array_properties(name, value))
    for dtype in ("float32", "bfloat16"):
        properties["the arrays", f"are {dtype}"] = observation.dtype == dtype
    for predicate, holds in _expected_properties(observation):
        properties[observation.result, f"should {predicate}"] = holds
    return properties


def _number_properties(number: float) -> Iterator[tuple[str, bool]]:
    yield "is 0", number == 0
    yield "is not 0", number != 0
    yield "is negative", number < 0
    yield "is not negative", number >= 0
    if number > 0:
        yield "is 1", number == 1
        yield "is above 1", number > 1
    if isinstance(number, float):
        yield NOT_ONE, number != 1


def _array_properties(name: str, value: Value) -> Iterator[tuple[Property, bool]]:
    array = np.asarray(to_array(value))
    yield (name, "is empty"), array.size == 0
    yield (name, "is one-dimensional"), array.ndim == 1
    for axis, length in enumerate(array.shape):
        phrase = axis_in_words(name, axis, array.ndim)
        if phrase:
            yield (phrase, "is 1"), length == 1
    if array.dtype.kind == "f" and array.size:
        finite = array[np.isfinite(array)]
        yield (name, "holds infinities"), finite.size < array.size
        yield (name, "has equal entries"), bool(np.unique(finite).size < finite.size)
        yield (name, "is 0 throughout"), not array.any()


def _expected_properties(observation: Observation) -> Iterator[tuple[str, bool]]:
    """Yield predicates of the expected result, as ("be None", False) if it is not None."""
    expected = observation.expected_value
    yield "be None", expected is None
    if isinstance(expected, (bool, np.bool_)):
        yield f"be {bool(expected)}", True
        yield f"be {not expected}", False
    if isinstance(expected, (int, np.integer)):
        for small in (0, 1):
            yield f"be {small}", int(expected) == small
    array = observation.expected_array
    if array is not None and array.ndim and array.size:
        yield "hold minus infinity", bool(np.isneginf(array).any())
