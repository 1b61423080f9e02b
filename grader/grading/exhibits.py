"""What to show of a mismatch: small slices of arrays, side by side, with what matters marked."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe, run_inputs, steps_producing
from grader.grading.compare import ResultMismatch
from grader.grading.evaluation import Evaluation
from grader.model.number_format import format_aligned_numbers, format_shape
from grader.model.report import Bar, Bars, Entries, Grids, Panel
from grader.model.spec import Show

MAX_SLICE_SHAPE = (8, 12)  # rows and columns of a slice that a reader can take in
MAX_UNASKED_ENTRIES = 16  # entries of an input that is shown though nobody asks for it
MAX_ENTRIES = 512  # of a result that goes into a report whole: 20 KB of JSON


def make_bars(
    text: Callable[[float], str], *values: tuple[str, float], details: tuple[str, ...] = ()
) -> Bars:
    """Values with their labels, each written as `text` says."""
    return Bars(tuple(Bar(label, value, text(value)) for label, value in values), details)


def make_grids(
    evaluation: Evaluation, case: CaseRecipe, fault: ResultMismatch, show: Show, run: str
) -> Grids | None:
    """Inputs next to the result, yours and expected, cut to the slice with the worst entry.

    Where all arrays of the case are small, all are shown, so that it can be done by hand.
    """
    if fault.arrays is None or fault.index is None or not fault.arrays[0].ndim:
        return None
    observed, expected, wrong = fault.arrays
    drawn = evaluation.drawn_inputs(case)
    window = _window(show, drawn)
    needed = run_inputs(steps_producing(evaluation.steps(run), fault.result))
    arrays = {
        name: value
        for name in dict.fromkeys((*show.beside, *needed))
        if isinstance(value := drawn.get(name), np.ndarray) and value.ndim and value.size
    }
    small = all(value.size <= MAX_UNASKED_ENTRIES for value in arrays.values())
    panels = [
        _input(name, value, observed.shape, fault.index, window)
        if name in show.beside
        else _panel(name, value, (0,) * value.ndim, focus=())
        for name, value in arrays.items()
        if small or name in show.beside
    ]
    panels.append(_panel(f"{fault.result}, yours", observed, fault.index, wrong=wrong))
    panels.append(_panel(f"{fault.result}, expected", expected, fault.index))
    if wrong.size > MAX_ENTRIES:
        return Grids(tuple(panels))
    yours, right = (tuple(map(float, array.ravel())) for array in (observed, expected))
    places = tuple(np.flatnonzero(wrong).tolist())
    return Grids(tuple(panels), Entries(observed.shape, yours, right, places))


def _window(show: Show, drawn: dict[str, Any]) -> tuple[int, int, int] | None:
    """Kernel, stride and padding, where the question names them and they are numbers."""
    values = [drawn.get(v) if isinstance(v, str) else v for v in show.window or ()]
    numbers = [v for v in values if isinstance(v, int)]
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) == len(values) == 3 else None


def _input(
    name: str,
    value: Array,
    shape: tuple[int, ...],
    index: tuple[int, ...],
    window: tuple[int, int, int] | None,
) -> Panel:
    """An input, cut to the place of the result's entry, with the entry's window in focus."""
    near = tuple(min(i, n - 1) for i, n in zip(index, value.shape, strict=False))
    near += (0,) * (value.ndim - len(near))
    alike = value.shape == shape
    if window is None or value.ndim != len(shape) or value.ndim < 2:
        # Rows of another shape (targets): show the row, and point at no entry of it.
        return _panel(name, value, near, focus=None if alike or value.ndim < 2 else ())
    kernel, stride, padding = window
    rows, columns = (
        # The result has one entry a window, or one an input: then the first window that holds it.
        (max(0, -(-(i + padding - kernel + 1) // stride)) if alike else i) * stride - padding
        for i in index[-2:]
    )
    if not alike:
        centre = (rows + kernel // 2, columns + kernel // 2)
        near = near[:-2] + tuple(
            min(max(c, 0), n - 1) for c, n in zip(centre, value.shape[-2:], strict=True)
        )
    focus = [(rows + r, columns + c) for r in range(kernel) for c in range(kernel)]
    panel = _panel(name, value, near, focus=focus)
    if alike and len(panel.focus) == sum(map(len, panel.rows)):
        return _panel(name, value, near)  # a window that is all there is to see points at nothing
    return panel


def _panel(
    title: str,
    array: Array,
    index: tuple[int, ...],
    *,
    wrong: Array | None = None,
    focus: Collection[tuple[int, int]] | None = None,
) -> Panel:
    """The rows and columns around an entry, at most `MOST`, and which entries are wrong.

    Where `focus` gives no rows and columns to point at, that is the entry itself.
    """
    kept = 2 if focus else 1  # columns; rows too, where they are pointed at
    long = [axis for axis, length in enumerate(array.shape[:-kept]) if length > 1]
    long += range(max(array.ndim - kept, 0), array.ndim)
    shape, places, axes = array.shape, [*map(str, index)], [*range(array.ndim)][-2:]
    if len(long) == 2 < array.ndim:  # sides of one entry say nothing
        wrong = None if wrong is None else wrong.squeeze(_others(long, array))
        array, index = array.squeeze(_others(long, array)), (index[long[0]], index[long[1]])
        axes = long
    lead, entry = index[:-2], (index[-2] if array.ndim > 1 else 0, index[-1])
    plane = np.atleast_2d(array[lead])
    rows, columns = (
        slice(start := max(0, min(i - most // 2, n - most)), min(start + most, n))
        for i, n, most in zip(entry, plane.shape, MAX_SLICE_SHAPE, strict=True)
    )
    shown = plane[rows, columns]
    marked: Any = [] if wrong is None else np.argwhere(np.atleast_2d(wrong[lead])[rows, columns])
    texts = iter(format_aligned_numbers(shown.reshape(-1).tolist()))
    for axis, part in zip(axes, (rows, columns)[-len(axes) :], strict=True):
        whole = part == slice(0, shape[axis])
        places[axis] = ":" if whole else f"{part.start}:{part.stop}"
    note = ""
    if shown.size < array.size:
        note = f"entries [{', '.join(places)}] of shape {format_shape(shape)}"
    return Panel(
        title,
        tuple(tuple(next(texts) for _ in range(shown.shape[1])) for _ in range(shown.shape[0])),
        frozenset((int(r), int(c)) for r, c in marked),
        frozenset(
            (r - rows.start, c - columns.start)
            for r, c in ([entry] if focus is None else focus)
            if rows.start <= r < rows.stop and columns.start <= c < columns.stop
        ),
        note,
    )


def _others(axes: Collection[int], array: Array) -> tuple[int, ...]:
    return tuple(axis for axis in range(array.ndim) if axis not in axes)
