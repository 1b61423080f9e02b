"""Find unusual features of a case's inputs: extreme values, masks, ties, sizes, limits."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from grader.audit.unvaried_inputs import stated_limits
from grader.cases.recipe import CaseRecipe
from grader.grading.evaluation import Evaluation

# Magnitudes that code may not expect.
LARGE_MAGNITUDE = 100
TINY_MAGNITUDE = 1e-3

NEARLY_EQUAL_SPREAD = 0.05  # spread of a row, relative to its largest magnitude
NEARLY_ZERO = 1e-6  # size of an entry, relative to the largest one
FAR_FROM_MEDIAN = 10  # a number is far if it is this factor above or below its median
MIN_ONE_SIGN_ENTRIES = 6  # fewer entries may have one sign by chance

_PIECE_SIZE_NAME = re.compile(r"block|chunk|group|tile|segment|stride|window|micro|page|head")

Array = np.ndarray[Any, Any]
PossibleFeatures = Iterator[tuple[object, str, str]]  # true if the input has it; its kind; its text


class Feature(NamedTuple):
    """A property of an input in some cases; an input has at most one feature of each kind."""

    name: str  # of the input
    kind: str  # a key of WEIGHTS in uncombined_features.py, or another word
    text: str

    def __str__(self) -> str:
        """Return the input's name and the property."""
        return f"{self.name} {self.text}"


def features_of(
    evaluation: Evaluation, case: CaseRecipe, drawn: Mapping[str, Any], names: Collection[str]
) -> frozenset[Feature]:
    """Return the features of the inputs with these names.

    Args:
        evaluation: evaluation that holds all cases of the question.
        case: the case that the inputs belong to.
        drawn: values of all inputs of the case, by name.
        names: the inputs whose features are returned.
    """
    features: dict[tuple[str, str], str] = {}
    if case.dtype != "float64":
        features["dtype", "dtype"] = case.dtype
    sizes = [size for name in names for size in np.shape(drawn[name])]
    for name in names:
        for holds, kind, text in _possible_features(evaluation, name, drawn[name], sizes):
            if holds:
                features.setdefault((name, kind), text)
    return frozenset(Feature(*key, text) for key, text in features.items())


def _possible_features(
    evaluation: Evaluation,
    name: str,
    value: Any,  # noqa: ANN401 any input
    sizes: Collection[int],
) -> PossibleFeatures:
    """Yield the features that an input of this type may have; of each kind, the first counts."""
    if isinstance(value, np.ndarray):
        yield from _array_features(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _number_features(evaluation, name, value, sizes)
    elif value is None:
        yield True, "given", "left out"
    else:
        yield True, "word", str(value)


def _number_features(
    evaluation: Evaluation, name: str, value: float, sizes: Collection[int]
) -> PossibleFeatures:
    """Yield the unusual features of a number, such as a block size that divides no axis."""
    recipes = [case.inputs[name] for case in evaluation.cases.values() if name in case.inputs]
    numbers = [recipe.literal for recipe in recipes if isinstance(recipe.literal, (int, float))]
    median = float(np.median(numbers))
    is_far_above = abs(value) >= FAR_FROM_MEDIAN * abs(median)
    is_far_below = abs(value) * FAR_FROM_MEDIAN <= abs(median)
    is_unusual = is_far_above or is_far_below or value in {0, 1} or value < 0
    is_limit = value in stated_limits(evaluation.question, name)
    yield is_limit, "limit", f"at its limit {value:g}"
    yield is_unusual and not is_limit and value != median, "number", f"{value:g}"
    if value > 1 and _PIECE_SIZE_NAME.search(name):
        divides_an_axis = any(size > value and size % value == 0 for size in sizes)
        yield not divides_an_axis, "pieces", "dividing no axis into equal pieces"


def _array_features(array: Array) -> PossibleFeatures:
    """Yield the unusual features of an array."""
    for axis, size in enumerate(array.shape):
        yield size <= 1, f"size of axis {axis}", f"of size {size} along axis {axis}"
    if not array.size:
        return
    if array.dtype == bool:
        yield not array.any(), "mask", "False everywhere"
        yield not _rows(array).any(axis=1).all(), "mask", "with a whole row False"
        yield not array.all(), "mask", "partly False"
    elif array.dtype.kind != "f":
        yield array.size > 1 and np.ptp(array) == 0, "equal", "with all entries equal"
        yield (array < 0).any(), "sign", "with negative entries"
    else:
        yield from _float_features(array)


def _float_features(array: Array) -> PossibleFeatures:
    """Yield the unusual features of an array of floats that is not empty."""
    yield np.isnan(array).any(), "special", "with NaN"
    yield np.isinf(array).any(), "special", "with infinite entries"
    magnitudes = np.abs(array[np.isfinite(array)])
    largest = magnitudes.max(initial=0.0)
    near_zero = (magnitudes > 0) & (magnitudes < NEARLY_ZERO * largest)
    yield largest > LARGE_MAGNITUDE, "magnitude", f"above {LARGE_MAGNITUDE} in magnitude"
    yield 0 < largest < TINY_MAGNITUDE, "magnitude", f"below {TINY_MAGNITUDE:g} throughout"
    yield near_zero.any(), "magnitude", "with entries near 0 beside larger ones"
    yield array.size >= MIN_ONE_SIGN_ENTRIES and (array < 0).all(), "sign", "negative everywhere"

    rows = _rows(array)
    has_nonzero = rows.any(axis=1)
    yield not array.any(), "zero", "0 everywhere"
    yield not has_nonzero.all(), "zero", "with a whole row of zeros"
    yield (array == 0).any(), "zero", "with some zeros"

    finite_rows = rows[has_nonzero & np.isfinite(rows).all(axis=1)]
    gaps = np.diff(np.sort(finite_rows))
    spread = gaps.sum(axis=1)
    largest_in_row = np.abs(finite_rows).max(axis=1)
    is_near = (spread > 0) & (spread <= NEARLY_EQUAL_SPREAD * largest_in_row)
    yield is_near.any(), "nearly", "with nearly equal entries in a row"
    yield gaps.size and (spread == 0).any(), "equal", "with a row of equal entries"
    yield (gaps == 0).any(), "equal", "with equal entries in a row"


def _rows(array: Array) -> Array:
    """Return the rows along the last axis as a matrix."""
    return array.reshape(-1, array.shape[-1] if array.ndim else 1)
