"""Pictures of a mismatch: slices of arrays, side by side, with the wrong entries marked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe, run_inputs, steps_producing
from grader.grading.compare import ResultMismatch
from grader.grading.evaluation import Evaluation
from grader.model.number_format import format_aligned_numbers, format_shape
from grader.model.report import Bar, Bars, Entries, Grids, Panel
from grader.model.spec import Show

MAX_SLICE_SHAPE = (8, 12)  # rows and columns of a slice: more cannot be taken in at a glance
MAX_UNASKED_ENTRIES = 16  # entries of an input that is shown although `show` does not name it
MAX_ENTRIES = 512  # entries of a result that goes into a report as a whole: 20 KB of JSON

Index = tuple[int, ...]
Window = tuple[int, int, int]  # kernel, stride, padding


def make_bars(
    format_value: Callable[[float], str],
    *values: tuple[str, float],
    details: tuple[str, ...] = (),
) -> Bars:
    """Return a chart with a bar for each label and value; `details` are lines of text below it."""
    bars = tuple(Bar(label, value, format_value(value)) for label, value in values)
    return Bars(bars, details)


def make_grids(
    evaluation: Evaluation, case: CaseRecipe, mismatch: ResultMismatch, show: Show, run: str
) -> Grids | None:
    """Return panels of inputs, the actual and the expected result around the worst entry.

    If all arrays of the case are small, all inputs are shown, so the case can be worked by hand.
    Returns None if the mismatch has no entries to show, as for a scalar or a wrong shape.
    """
    if mismatch.arrays is None or mismatch.index is None or not mismatch.arrays[0].ndim:
        return None
    observed, expected, wrong = mismatch.arrays
    drawn = evaluation.drawn_inputs(case)
    window = _pooling_window(show, drawn)
    needed = run_inputs(steps_producing(evaluation.steps(run), mismatch.result))
    arrays = {}
    for name in dict.fromkeys((*show.beside, *needed)):
        value = drawn.get(name)
        if isinstance(value, np.ndarray) and value.ndim and value.size:
            arrays[name] = value
    are_all_small = all(array.size <= MAX_UNASKED_ENTRIES for array in arrays.values())
    panels = []
    for name, array in arrays.items():
        if name in show.beside:
            panels.append(_input_panel(name, array, observed.shape, mismatch.index, window))
        elif are_all_small:
            panels.append(_panel(name, array, (0,) * array.ndim, focus=()))
    yours = f"{mismatch.result}, yours"
    panels.append(_panel(yours, observed, mismatch.index, wrong=wrong))
    panels.append(_panel(f"{mismatch.result}, expected", expected, mismatch.index))
    if wrong.size > MAX_ENTRIES:
        return Grids(tuple(panels))
    entries = Entries(
        shape=observed.shape,
        yours=tuple(map(float, observed.ravel())),
        expected=tuple(map(float, expected.ravel())),
        wrong=tuple(np.flatnonzero(wrong).tolist()),
    )
    return Grids(tuple(panels), entries)


def _pooling_window(show: Show, drawn: Mapping[str, Any]) -> Window | None:
    """Return kernel, stride and padding, if the question names them and they are integers."""
    match [drawn.get(size) if isinstance(size, str) else size for size in show.window or ()]:
        case [int(kernel), int(stride), int(padding)]:
            return kernel, stride, padding
    return None


def _input_panel(
    name: str, array: Array, result_shape: Index, index: Index, window: Window | None
) -> Panel:
    """Return a panel of an input around the place that belongs to a result's entry.

    With a window (kernel, stride, padding), the inputs in the entry's window are in focus.
    """
    has_result_shape = array.shape == result_shape
    nearest = tuple(min(i, length - 1) for i, length in zip(index, array.shape, strict=False))
    nearest += (0,) * (array.ndim - len(nearest))
    if window is None or array.ndim != len(result_shape) or array.ndim < 2:
        # An array of another shape (targets): show the row, without pointing at an entry.
        points_at_entry = has_result_shape or array.ndim < 2
        return _panel(name, array, nearest, focus=None if points_at_entry else ())

    kernel, stride, padding = window
    corner = []
    for position in index[-2:]:
        window_number = position
        if has_result_shape:  # one entry per input: take the first window that holds it
            window_number = max(0, -(-(position + padding - kernel + 1) // stride))
        corner.append(window_number * stride - padding)
    top, left = corner
    if not has_result_shape:
        center = (top + kernel // 2, left + kernel // 2)
        nearest = nearest[:-2] + tuple(
            min(max(position, 0), length - 1)
            for position, length in zip(center, array.shape[-2:], strict=True)
        )
    focus = [(top + row, left + column) for row in range(kernel) for column in range(kernel)]
    panel = _panel(name, array, nearest, focus=focus)
    if has_result_shape and len(panel.focus) == sum(map(len, panel.rows)):
        return _panel(name, array, nearest)  # the window covers all that is shown
    return panel


def _panel(
    title: str,
    array: Array,
    index: Index,
    *,
    wrong: Array | None = None,
    focus: Collection[tuple[int, int]] | None = None,
) -> Panel:
    """Return a panel with a slice of an array around an index, at most `MAX_SLICE_SHAPE` large.

    Entries in `focus` are highlighted: (row, column) in the last two axes.  By default, it is the
    entry at the index.
    """
    axes = _shown_axes(array.shape, keeps_last_two=bool(focus))
    plane_index = tuple(
        slice(None) if axis in axes else position for axis, position in enumerate(index)
    )
    plane = np.atleast_2d(array[plane_index])
    entry = (index[axes[0]] if len(axes) == 2 else 0, index[axes[-1]])
    rows = _slice_around(entry[0], plane.shape[0], MAX_SLICE_SHAPE[0])
    columns = _slice_around(entry[1], plane.shape[1], MAX_SLICE_SHAPE[1])
    part = plane[rows, columns]
    marked: Any = ()
    if wrong is not None:
        marked = np.argwhere(np.atleast_2d(wrong[plane_index])[rows, columns]).tolist()
    note = ""
    if part.size < array.size:
        places = [str(position) for position in index]
        for axis, cut in zip(axes, (rows, columns)[-len(axes) :], strict=True):
            is_whole = cut == slice(0, array.shape[axis])
            places[axis] = ":" if is_whole else f"{cut.start}:{cut.stop}"
        note = f"entries [{', '.join(places)}] of shape {format_shape(array.shape)}"
    texts = np.reshape(format_aligned_numbers(part.ravel().tolist()), part.shape)
    return Panel(
        title=title,
        rows=tuple(map(tuple, texts.tolist())),
        wrong=frozenset(map(tuple, marked)),
        focus=frozenset(
            (row - rows.start, column - columns.start)
            for row, column in ([entry] if focus is None else focus)
            if rows.start <= row < rows.stop and columns.start <= column < columns.stop
        ),
        note=note,
    )


def _shown_axes(shape: Index, *, keeps_last_two: bool) -> list[int]:
    """Return the axes of a panel: the last, and the only other one that is longer than 1.

    If several others are longer than 1, or none is, return the last two.  In shape (4, 1, 5), the
    result is axes 0 and 2, or axes 1 and 2 with `keeps_last_two`.
    """
    axes = list(range(len(shape)))
    first_kept = len(shape) - (2 if keeps_last_two else 1)
    longer = [axis for axis in axes if axis >= first_kept or shape[axis] > 1]
    return longer if len(longer) == 2 else axes[-2:]


def _slice_around(position: int, length: int, max_length: int) -> slice:
    start = max(0, min(position - max_length // 2, length - max_length))
    return slice(start, min(start + max_length, length))
