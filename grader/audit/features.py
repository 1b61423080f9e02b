"""Find what is unusual of the inputs of a case: extreme values, masks, ties, sizes, limits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from grader.audit.unvaried import limits_of
from grader.cases.recipe import CaseRecipe
from grader.evaluation.evaluation import Evaluation
from grader.evaluation.values import array_of

LARGE, TINY = 100, 1e-3  # magnitudes that code may not expect
NEARLY_EQUAL = 0.05  # spread of a row, relative to its largest magnitude
NEARLY_ZERO = 1e-6  # of an entry, relative to the largest one
FAR = 10  # times the median of a number's values, or a tenth of it
ENOUGH = 6  # entries that do not have one sign by chance

_PIECE = re.compile(r"block|chunk|group|tile|segment|stride|window|micro|page|head")

Array = np.ndarray[Any, Any]
Axis = tuple[str, int, int]  # an array's name, how many axes it has, and one of them


class Feature(NamedTuple):
    """Something that is true of an input in some cases."""

    name: str  # of the input
    kind: str  # a key of WEIGHTS in uncombined.py
    text: str

    def __str__(self) -> str:
        """Return the input and what is true of it."""
        return f"{self.name} {self.text}"


class FeatureFinder:
    """Finds the features of a case, knowing which axes and numbers vary over all cases."""

    def __init__(self, evaluation: Evaluation, cases: Sequence[CaseRecipe]) -> None:
        """Learn which axes always have one size, and which values numbers have."""
        self._question = evaluation.question
        self._sizes: dict[Axis, dict[str, int]] = {}  # by case
        self._numbers: dict[str, list[float]] = {}
        pieces: dict[str, Counter[Axis]] = {}
        for case in cases:
            drawn = evaluation.drawn(case)
            for name, value in drawn.items():
                if isinstance(value, (int, float)):
                    self._numbers.setdefault(name, []).append(value)
                for key, size in _sizes(value).items():
                    self._sizes.setdefault((name, *key), {})[case.name] = size
        self._axes = [axis for axis in self._sizes if self._first_alike(axis) == axis]
        for case in cases:
            drawn = evaluation.drawn(case)
            for name in filter(_PIECE.search, drawn):
                if isinstance(drawn[name], int) and drawn[name] > 0:
                    pieces.setdefault(name, Counter()).update(
                        axis
                        for axis in self._axes
                        if (size := self._sizes[axis].get(case.name, 0)) > drawn[name]
                        and size % drawn[name] == 0
                    )
        # The axis that is most often cut into several pieces without a rest.
        self._cut = {name: found.most_common()[0][0] for name, found in pieces.items() if found}

    def _first_alike(self, axis: Axis) -> Axis:
        """Return the first axis that has the same size in every case that has both."""
        own = self._sizes[axis]
        for other, sizes in self._sizes.items():
            shared = own.keys() & sizes.keys()
            if other == axis or (shared and all(own[case] == sizes[case] for case in shared)):
                return other
        return axis

    def of(
        self, case: CaseRecipe, drawn: Mapping[str, Any], names: frozenset[str]
    ) -> frozenset[Feature]:
        """Return the features of the inputs with these names."""
        found = set()
        if case.dtype != "float64":
            found.add(Feature("dtype", "dtype", case.dtype))
        for name in names & drawn.keys():
            value = drawn[name]
            if value is None:
                found.add(Feature(name, "given", "left out"))
            elif isinstance(value, (bool, str)):
                found.add(Feature(name, "word", str(value)))
            elif isinstance(value, (int, float)):
                found |= set(self._of_number(name, value, drawn, names))
            else:
                array = np.asarray(array_of(value))
                found |= {Feature(name, *told) for told in _of_array(array)}
                if case.inputs[name].literal is None or array.ndim:
                    found |= set(self._of_sizes(name, array))
        return frozenset(found)

    def _of_number(
        self, name: str, value: float, drawn: Mapping[str, Any], names: frozenset[str]
    ) -> Iterator[Feature]:
        """Yield what is unusual of a number, and how it cuts axes into pieces."""
        numbers = self._numbers[name]
        usual = Counter(numbers).most_common()[0][0]
        median = abs(float(np.median(numbers)))
        far = abs(value) >= FAR * median or abs(value) * FAR <= median
        if value in limits_of(self._question, name) and len({*numbers}) > 1:
            yield Feature(name, "limit", f"at its limit {value:g}")
        elif value != usual and (far or value in (0, 1) or value < 0):
            yield Feature(name, "number", f"{value:g}")
        if (axis := self._cut.get(name)) is not None and axis[0] in names & drawn.keys():
            size = _sizes(drawn[axis[0]]).get(axis[1:], 0)
            divides = "not dividing" if value and size % value else "dividing"
            told = f"{divides} axis {axis[2]} of {axis[0]}"
            if value >= size:
                told = f"at least the size of axis {axis[2]} of {axis[0]}"
            if size > 1:
                yield Feature(name, "pieces", told)

    def _of_sizes(self, name: str, array: Array) -> Iterator[Feature]:
        """Yield axes of size 0 and 1, if other cases have larger ones."""
        for axis, size in enumerate(array.shape):
            key = (name, array.ndim, axis)
            if size <= 1 and key in self._axes and max(self._sizes[key].values()) > 1:
                yield Feature(name, "size", f"of size {size} along axis {axis}")


def _sizes(value: Any) -> dict[tuple[int, int], int]:  # noqa: ANN401 whatever is drawn
    """Return the sizes of an array by the number of its axes and the axis; of others none."""
    if value is None or isinstance(value, (int, float, str)):
        return {}
    shape = np.shape(array_of(value))
    return {(len(shape), axis): size for axis, size in enumerate(shape)}


def _of_array(array: Array) -> Iterator[tuple[str, str]]:
    """Yield kinds and texts of what is unusual of an array's entries."""
    if not array.size:
        return
    rows = array.reshape(-1, array.shape[-1] if array.ndim else 1)
    if array.dtype == bool:
        dead = ~rows.any(axis=1)
        if not array.any():
            yield "mask", "False everywhere"
        elif dead.any():
            yield "mask", "with a whole row False"
        elif not array.all():
            yield "mask", "partly False"
        return
    if array.dtype.kind != "f":
        if array.size > 1 and (array == array.flat[0]).all():
            yield "equal", "with all entries equal"
        if array.dtype.kind == "i" and (array < 0).any():
            yield "sign", "with negative entries"
        return
    if np.isnan(array).any():
        yield "special", "with NaN"
    if np.isinf(array).any():
        yield "special", "with infinite entries"
    yield from _of_magnitudes(np.abs(array[np.isfinite(array)]))
    if array.size >= ENOUGH and (array < 0).all():
        yield "sign", "negative everywhere"
    if not array.any():
        yield "zero", "0 everywhere"
    elif rows.shape[0] > 1 and (~rows.any(axis=1)).any():
        yield "zero", "with a whole row of zeros"
    elif (array == 0).any():
        yield "zero", "with some zeros"
    if rows.shape[1] > 1 and np.isfinite(rows).all():
        spread, largest = np.ptp(rows, axis=1), np.abs(rows).max(axis=1)
        if ((spread > 0) & (spread <= NEARLY_EQUAL * largest)).any():
            yield "nearly", "with nearly equal entries in a row"
        live = rows.any(axis=1)
        if (spread[live] == 0).any():
            yield "equal", "with a row of equal entries"
        elif (np.diff(np.sort(rows[live], axis=1), axis=1) == 0).any():
            yield "equal", "with equal entries in a row"


def _of_magnitudes(sizes: Array) -> Iterator[tuple[str, str]]:
    largest = sizes.max(initial=0.0)
    if largest > LARGE:
        yield "magnitude", f"above {LARGE} in magnitude"
    elif 0 < largest < TINY:
        yield "magnitude", f"below {TINY:g} throughout"
    elif ((sizes > 0) & (sizes < NEARLY_ZERO * largest)).any():
        yield "magnitude", "with entries near 0 beside larger ones"
