"""Quantities to be compared by length, the largest filling the width there is."""

from __future__ import annotations

import math

from rich.cells import cell_len
from rich.text import Text

from grader.model.report import Bar, Bars
from grader.reports.inert import inert
from grader.reports.page import cut, measure, padded
from grader.reports.palette import QUIET, STRONG

_INDENT = 4
_LONGEST = 40
_SHORTEST = 8
_LABEL_LIMIT = 28
_MOST_DETAILS = 8


def bar_lines(bars: Bars, width: int) -> list[Text]:
    """One line per bar, then the details."""
    width = measure(width)
    labels = [cut(inert(b.label), _LABEL_LIMIT) for b in bars.bars]
    values = [cut(inert(b.text), _LABEL_LIMIT) for b in bars.bars]
    across = max(map(cell_len, labels), default=0)
    right = max(map(cell_len, values), default=0)
    room = width - _INDENT - 2 - across - 3 - right
    longest = max(min(room, _LONGEST), _SHORTEST)
    lines = []
    for bar, label, value in zip(bars.bars, labels, values, strict=True):
        style = STRONG if bar.label == "yours" else ""
        marks = "#" * _length(bar, bars, longest)
        line = Text(" " * _INDENT).append(padded(marks, longest + 2), style)
        line.append(padded(label, across + 3), style)
        line.append(padded(value, right, right=True), style)
        lines.append(line)
    if bars.details:
        lines.append(Text())
        lines += _details(bars.details, width)
    return lines


def _details(details: tuple[str, ...], width: int) -> list[Text]:
    indent = " " * _INDENT
    lines = [Text(indent + cut(inert(d), width - _INDENT)) for d in details[:_MOST_DETAILS]]
    if (more := len(details) - _MOST_DETAILS) > 0:
        lines.append(Text(f"{indent}... and {more} more", QUIET))
    return lines


def _length(bar: Bar, bars: Bars, longest: int) -> int:
    """Cells of a bar: at least one for anything above zero, all of them for what has no end."""
    finite = [b.value for b in bars.bars if math.isfinite(b.value)]
    largest = max(finite, default=0.0)
    if bar.value == math.inf:
        return longest
    if not bar.value > 0:  # NaN too
        return 0
    return max(1, round(longest * (bar.value / largest)))
