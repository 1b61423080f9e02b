"""Find what is unusual of the inputs of a case: extreme values, masks, ties, sizes, limits."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from grader.audit.unvaried_inputs import stated_limits
from grader.cases.recipe import CaseRecipe
from grader.grading.evaluation import Evaluation

LARGE_MAGNITUDE, TINY_MAGNITUDE = 100, 1e-3  # magnitudes that code may not expect
NEARLY_EQUAL_SPREAD = 0.05  # spread of a row, relative to its largest magnitude
NEARLY_ZERO = 1e-6  # of an entry, relative to the largest one
FAR_FROM_MEDIAN = 10  # times the median of a number's values, or a tenth of it
MIN_ONE_SIGN_ENTRIES = 6  # entries that do not have one sign by chance

_PIECE = re.compile(r"block|chunk|group|tile|segment|stride|window|micro|page|head")

Array = np.ndarray[Any, Any]
FoundFeatures = Iterator[
    tuple[object, str, str]
]  # whether it holds, a kind of feature, and its text


class Feature(NamedTuple):
    """Something that is true of an input in some cases; one of each kind at most."""

    name: str  # of the input
    kind: str  # see WEIGHTS in uncombined.py
    text: str

    def __str__(self) -> str:
        """Return the input and what is true of it."""
        return f"{self.name} {self.text}"


def features_of(
    evaluation: Evaluation, case: CaseRecipe, drawn: Mapping[str, Any], names: Collection[str]
) -> frozenset[Feature]:
    """Return the features of the inputs with these names; `evaluation` has all cases."""
    features: dict[tuple[str, str], str] = {}
    if case.dtype != "float64":
        features["dtype", "dtype"] = case.dtype
    sizes = [size for name in names for size in np.shape(drawn[name])]
    for name in names:
        value = drawn[name]
        if isinstance(value, np.ndarray):
            found = _of_array(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found = _of_number(evaluation, name, value, sizes)
        else:
            kind, text = ("given", "left out") if value is None else ("word", str(value))
            found = iter([(True, kind, text)])
        for holds, kind, text in found:
            if holds:
                features.setdefault((name, kind), text)
    return frozenset(Feature(*key, text) for key, text in features.items())


def _of_number(
    evaluation: Evaluation, name: str, value: float, sizes: Collection[int]
) -> FoundFeatures:
    """Yield what is unusual of a number, such as a size of blocks that fits no axis."""
    recipes = [case.inputs[name] for case in evaluation.cases.values() if name in case.inputs]
    numbers = [one.literal for one in recipes if isinstance(one.literal, (int, float))]
    usual = float(np.median(numbers))
    is_far = abs(value) >= FAR_FROM_MEDIAN * abs(usual) or abs(value) * FAR_FROM_MEDIAN <= abs(
        usual
    )
    is_odd = is_far or value in {0, 1} or value < 0
    is_limit = value in stated_limits(evaluation.question, name)
    yield is_limit, "limit", f"at its limit {value:g}"
    yield is_odd and not is_limit and value != usual, "number", f"{value:g}"
    if value > 1 and _PIECE.search(name):
        is_even = any(size > value and size % value == 0 for size in sizes)
        yield not is_even, "pieces", "dividing no axis into equal pieces"


def _of_array(array: Array) -> FoundFeatures:
    """Yield what may be unusual of an array; of a kind, the first that holds counts."""
    for axis, size in enumerate(array.shape):
        yield size <= 1, f"size of axis {axis}", f"of size {size} along axis {axis}"
    if not array.size:
        return
    rows = array.reshape(-1, array.shape[-1] if array.ndim else 1)
    is_live = rows.any(axis=1)
    if array.dtype == bool:
        yield not array.any(), "mask", "False everywhere"
        yield not is_live.all(), "mask", "with a whole row False"
        yield not array.all(), "mask", "partly False"
        return
    if array.dtype.kind != "f":
        yield array.size > 1 and np.ptp(array) == 0, "equal", "with all entries equal"
        yield (array < 0).any(), "sign", "with negative entries"
        return
    yield np.isnan(array).any(), "special", "with NaN"
    yield np.isinf(array).any(), "special", "with infinite entries"
    sizes = np.abs(array[np.isfinite(array)])
    largest = sizes.max(initial=0.0)
    near_zero = (sizes > 0) & (sizes < NEARLY_ZERO * largest)
    yield largest > LARGE_MAGNITUDE, "magnitude", f"above {LARGE_MAGNITUDE} in magnitude"
    yield 0 < largest < TINY_MAGNITUDE, "magnitude", f"below {TINY_MAGNITUDE:g} throughout"
    yield near_zero.any(), "magnitude", "with entries near 0 beside larger ones"
    yield array.size >= MIN_ONE_SIGN_ENTRIES and (array < 0).all(), "sign", "negative everywhere"
    yield not array.any(), "zero", "0 everywhere"
    yield not is_live.all(), "zero", "with a whole row of zeros"
    yield (array == 0).any(), "zero", "with some zeros"
    live = rows[is_live & np.isfinite(rows).all(axis=1)]
    gaps = np.diff(np.sort(live))
    spread = gaps.sum(axis=1)
    is_near = (spread > 0) & (spread <= NEARLY_EQUAL_SPREAD * np.abs(live).max(axis=1))
    yield is_near.any(), "nearly", "with nearly equal entries in a row"
    yield gaps.size and (spread == 0).any(), "equal", "with a row of equal entries"
    yield (gaps == 0).any(), "equal", "with equal entries in a row"
