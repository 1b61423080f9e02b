"""Find what is unusual of the inputs of a case: extreme values, masks, ties, sizes, limits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from grader.audit.unvaried import limits_of
from grader.cases.recipe import CaseRecipe
from grader.evaluation.evaluation import Evaluation

LARGE, TINY = 100, 1e-3  # magnitudes that code may not expect
NEARLY_EQUAL = 0.05  # spread of a row, relative to its largest magnitude
NEARLY_ZERO = 1e-6  # of an entry, relative to the largest one
FAR = 10  # times the median of a number's values, or a tenth of it
ENOUGH = 6  # entries that do not have one sign by chance

_PIECE = re.compile(r"block|chunk|group|tile|segment|stride|window|micro|page|head")

Array = np.ndarray[Any, Any]
Axis = tuple[str, int]  # an array's name, and one of its axes
Found = Iterator[tuple[object, str, str]]  # whether it holds, a kind of feature, and its text


class Feature(NamedTuple):
    """Something that is true of an input in some cases; one of each kind at most."""

    name: str  # of the input
    kind: str  # see WEIGHTS in uncombined.py
    text: str

    def __str__(self) -> str:
        """Return the input and what is true of it."""
        return f"{self.name} {self.text}"


class FeatureFinder:
    """Finds the features of a case, knowing which values are usual in all cases."""

    def __init__(self, evaluation: Evaluation, cases: Collection[CaseRecipe]) -> None:
        """Learn the medians of numbers, and which axis each size of pieces cuts without a rest."""
        self._question = evaluation.question
        numbers: dict[str, list[float]] = {}
        cuts: dict[str, Counter[Axis]] = {}
        for drawn in map(evaluation.drawn, cases):
            sizes = _sizes(drawn)
            for name, value in drawn.items():
                if isinstance(value, (int, float)):
                    numbers.setdefault(name, []).append(value)
                if isinstance(value, int) and value > 1 and _PIECE.search(name):
                    axes = [a for a, size in sizes.items() if size > value and size % value == 0]
                    cuts.setdefault(name, Counter()).update(axes)
        self._median = {name: float(np.median(values)) for name, values in numbers.items()}
        self._cut = {name: axes.most_common()[0][0] for name, axes in cuts.items() if axes}

    def of(
        self, evaluation: Evaluation, case: CaseRecipe, names: Collection[str]
    ) -> frozenset[Feature]:
        """Return the features of the inputs with these names."""
        drawn = evaluation.drawn(case)
        read = {name: drawn[name] for name in names & drawn.keys()}
        sizes = _sizes(read)
        features = {("dtype", "dtype"): case.dtype} if case.dtype != "float64" else {}
        for name, value in read.items():
            if isinstance(value, np.ndarray):
                found = _of_array(value)
            else:
                found = self._of_scalar(name, value, sizes)
            for holds, kind, text in found:
                if holds:
                    features.setdefault((name, kind), text)
        for (name, axis), size in sizes.items():
            if size <= 1:
                features.setdefault(
                    (name, f"size along {axis}"), f"of size {size} along axis {axis}"
                )
        return frozenset(Feature(*key, text) for key, text in features.items())

    def _of_scalar(self, name: str, value: Any, sizes: Mapping[Axis, int]) -> Found:  # noqa: ANN401
        """Yield what is unusual of a number, a text or a truth value."""
        yield value is None, "given", "left out"
        yield isinstance(value, (bool, str)), "word", str(value)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return
        is_limit = value in limits_of(self._question, name)
        usual = self._median[name]
        is_far = abs(value) >= FAR * abs(usual) or abs(value) * FAR <= abs(usual)
        is_odd = is_far or value in {0, 1} or value < 0
        yield is_limit, "limit", f"at its limit {value:g}"
        yield is_odd and not is_limit and value != usual, "number", f"{value:g}"
        size = sizes.get(self._cut.get(name, (name, 0)), 0)
        if size > 1:
            axis = "axis {1} of {0}".format(*self._cut[name])
            yield value >= size, "pieces", f"at least the size of {axis}"
            yield value and size % value == 0, "pieces", f"dividing {axis}"
            yield True, "pieces", f"not dividing {axis}"


def _sizes(drawn: Mapping[str, Any]) -> dict[Axis, int]:
    """Return the size of each axis of the arrays."""
    return {
        (name, axis): size
        for name, value in drawn.items()
        for axis, size in enumerate(np.shape(value))
    }


def _of_array(array: Array) -> Found:
    """Yield what may be unusual of an array's entries; of a kind, the first that holds counts."""
    if not array.size:
        return
    rows = array.reshape(-1, array.shape[-1] if array.ndim else 1)
    if array.dtype == bool:
        yield not array.any(), "mask", "False everywhere"
        yield not rows.any(axis=1).all(), "mask", "with a whole row False"
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
    yield largest > LARGE, "magnitude", f"above {LARGE} in magnitude"
    yield 0 < largest < TINY, "magnitude", f"below {TINY:g} throughout"
    yield near_zero.any(), "magnitude", "with entries near 0 beside larger ones"
    yield array.size >= ENOUGH and (array < 0).all(), "sign", "negative everywhere"
    yield not array.any(), "zero", "0 everywhere"
    yield not rows.any(axis=1).all(), "zero", "with a whole row of zeros"
    yield (array == 0).any(), "zero", "with some zeros"
    live = rows[rows.any(axis=1) & np.isfinite(rows).all(axis=1)]
    gaps = np.diff(np.sort(live))
    spread = gaps.sum(axis=1)
    is_near = (spread > 0) & (spread <= NEARLY_EQUAL * np.abs(live).max(axis=1))
    yield is_near.any(), "nearly", "with nearly equal entries in a row"
    yield gaps.size and (spread == 0).any(), "equal", "with a row of equal entries"
    yield (gaps == 0).any(), "equal", "with equal entries in a row"
