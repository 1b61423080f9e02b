"""What to show of a mismatch: small slices of arrays, side by side, with what matters marked."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.bench.bench import Bench
from grader.bench.compare import Fault
from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe
from grader.model.numerals import numbers_aligned, shape_text
from grader.model.report import Grids, Mismatch, Panel
from grader.model.spec import Show

MOST = 12  # rows and columns of a slice that a reader can take in


def case_line(bench: Bench, case: CaseRecipe, run: str) -> str:
    """The inputs in words: `kernel 3, stride 3, x (1, 1, 3, 3)`."""
    parts = []
    drawn = bench.drawn(case)
    for name in bench.inputs(case, run):
        value = drawn[name]
        if isinstance(value, np.ndarray):
            recipe = case.inputs[name]
            dtype = recipe.dtype or case.dtype
            extra = "" if dtype in {"float64", "int64"} else f" {dtype}"
            layout = recipe.layout or case.layout
            extra += "" if layout == "contiguous" else f" {layout}"
            parts.append(f"{name} {shape_text(value.shape)}{extra}")
        else:
            parts.append(f"{name} {value}")
    return ", ".join(parts)


def mismatch(fault: Fault, case: CaseRecipe) -> Mismatch:
    """The fault as plain data."""
    return Mismatch(
        result=fault.result,
        case=case.name,
        index=fault.index,
        observed=fault.observed,
        expected=fault.expected,
        allowed=fault.allowed,
        wrong=fault.wrong,
        total=fault.total,
    )


def grids(bench: Bench, case: CaseRecipe, fault: Fault, show: Show) -> Grids | None:
    """Inputs with the result, yours and expected, cut to the slice that holds the worst entry."""
    if fault.arrays is None or fault.index is None or not fault.arrays[0].ndim:
        return None
    observed, expected, wrong = fault.arrays
    index = fault.index
    drawn = bench.drawn(case)
    panels = []
    window = _window(show, drawn)
    for name in show.inputs:
        value = drawn.get(name)
        if isinstance(value, np.ndarray) and value.ndim and value.size:
            panels.append(_beside(name, value, observed.shape, index, window))
    panels.append(_slice(f"{fault.result}, yours", observed, index, wrong))
    panels.append(_slice(f"{fault.result}, expected", expected, index, None))
    return Grids(tuple(panels))


def _window(show: Show, drawn: dict[str, Any]) -> tuple[int, int, int] | None:
    if show.window is None or len(show.window) != 3:
        return None
    values = [drawn.get(v) if isinstance(v, str) else v for v in show.window]
    if not all(isinstance(v, int) for v in values):
        return None
    kernel, stride, padding = (int(v) for v in values if v is not None)
    return kernel, stride, padding


def _plane(array: Array, index: tuple[int, ...]) -> tuple[Array, tuple[int, int], str]:
    """The last two axes around an index, the place in them, and what they are a slice of."""
    if array.ndim == 1:
        return array[None, :], (0, index[-1]), ""
    lead = index[:-2]
    inside = (index[-2], index[-1])
    note = (
        f"{shape_text(lead)[1:-1].rstrip(',')} of {shape_text(array.shape)}"
        if np.prod(array.shape[:-2]) > 1
        else ""
    )
    return array[lead], inside, note


def _cut(plane: Array, at: tuple[int, int]) -> tuple[slice, slice]:
    """At most `MOST` rows and columns, with the place in them."""
    cuts = []
    for size, place in zip(plane.shape, at, strict=True):
        start = max(0, min(place - MOST // 2, size - MOST))
        cuts.append(slice(start, min(size, start + MOST)))
    return cuts[0], cuts[1]


def _slice(title: str, array: Array, index: tuple[int, ...], wrong: Array | None) -> Panel:
    plane, at, note = _plane(array, index)
    rows, columns = _cut(plane, at)
    marks: frozenset[tuple[int, int]] = frozenset()
    if wrong is not None:
        flags = _plane(wrong, index)[0][rows, columns]
        marks = frozenset((int(r), int(c)) for r, c in np.argwhere(flags))
    note = _note(note, plane, rows, columns)
    focus = frozenset({(at[0] - rows.start, at[1] - columns.start)})
    return Panel(title, _texts(plane[rows, columns]), marks, focus, note)


def _note(note: str, plane: Array, rows: slice, columns: slice) -> str:
    if (rows.stop - rows.start, columns.stop - columns.start) == plane.shape:
        return f"slice {note}" if note else ""
    cut = f"rows {rows.start}-{rows.stop - 1}, columns {columns.start}-{columns.stop - 1}"
    return f"{cut} of slice {note}" if note else cut


def _texts(plane: Array) -> tuple[tuple[str, ...], ...]:
    flat = numbers_aligned(plane.reshape(-1).tolist())
    width = plane.shape[1]
    return tuple(tuple(flat[i * width : (i + 1) * width]) for i in range(plane.shape[0]))


def _beside(
    name: str,
    value: Array,
    shape: tuple[int, ...],
    index: tuple[int, ...],
    window: tuple[int, int, int] | None,
) -> Panel:
    """An input, cut to the place of the result's entry, with the entry's window in focus."""
    if value.ndim != len(shape) or value.ndim < 2:
        place = tuple(min(i, n - 1) for i, n in zip(index[: value.ndim], value.shape, strict=False))
        place += (0,) * (value.ndim - len(place))
        row = value.ndim >= 2
        panel = _slice(name, value, place, None)
        # A vector of rows (targets) or another shape: point at the row, not at an entry.
        return Panel(
            panel.title,
            panel.rows,
            frozenset(),
            panel.focus if not row else frozenset(),
            panel.note,
        )
    like_input = value.shape == shape
    if window is None:
        at = (
            index
            if like_input
            else tuple(min(i, n - 1) for i, n in zip(index, value.shape, strict=True))
        )
        panel = _slice(name, value, at, None)
        return (
            panel if like_input else Panel(name, panel.rows, frozenset(), frozenset(), panel.note)
        )
    kernel, stride, padding = window
    corner = []
    for axis in (-2, -1):
        # The result has one entry a window, or one an input: then the first window that holds it.
        i = index[axis]
        first = max(0, -(-(i + padding - kernel + 1) // stride)) if like_input else i
        corner.append(first * stride - padding)
    lead = tuple(min(i, n - 1) for i, n in zip(index[:-2], value.shape[:-2], strict=True))
    centre = tuple(
        min(max(c + kernel // 2, 0), n - 1) for c, n in zip(corner, value.shape[-2:], strict=True)
    )
    place = index if like_input else (*lead, *centre)
    plane, at2, note = _plane(value, place)
    rows, columns = _cut(plane, at2)
    focus = frozenset(
        (r - rows.start, c - columns.start)
        for r in range(corner[0], corner[0] + kernel)
        for c in range(corner[1], corner[1] + kernel)
        if rows.start <= r < rows.stop and columns.start <= c < columns.stop
    )
    if like_input and len(focus) == plane[rows, columns].size:
        # A window that is all there is to see points at nothing: point at the entry.
        focus = frozenset({(at2[0] - rows.start, at2[1] - columns.start)})
    return Panel(
        name, _texts(plane[rows, columns]), frozenset(), focus, _note(note, plane, rows, columns)
    )
