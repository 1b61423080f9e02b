"""What sets a failing check's numbers side by side: a table, bars, or two curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from grader.model.numerals import number
from grader.model.report import Bars, Breakdown, Curve, Exhibit, Grids
from grader.reports.grids import grid_lines
from grader.reports.inert import inert
from grader.reports.page import INDENT, cut, measure, padded, paragraph, wrapped
from grader.reports.sheet import cells
from grader.reports.text import Text

_GAP = 4  # cells between the columns of a table
_LABEL_LIMIT = 28
_VALUE_LIMIT = 24
_LONGEST_BAR = 34
_SHORTEST_BAR = 8
_POINTS = 6  # of a curve
_WIDEST_POINT = 10  # cells, with the gap before it
_NAMES = {"yours": "yours", "expected": "a right one"}


def exhibit_lines(
    exhibit: Exhibit, width: int, *, most: int, hidden: bool = False, inputs: bool = True
) -> list[Text]:
    """An exhibit as lines of at most `width` cells.

    Args:
        exhibit: what to show.
        width: of the window.
        most: rows of a table, or details of bars.
        hidden: whether what is right is kept back.
        inputs: whether grids show more than yours and expected.
    """
    match exhibit:
        case Grids():
            return grid_lines(exhibit, width, inputs=inputs)
        case Breakdown():
            return list(breakdown_lines(exhibit, measure(width), most=most, hidden=hidden))
        case Bars():
            return list(bar_lines(exhibit, measure(width), most=most))
        case Curve():
            return list(curve_lines(exhibit, measure(width)))


def breakdown_lines(
    breakdown: Breakdown, width: int, *, most: int, hidden: bool = False
) -> Iterator[Text]:
    """A table: yours, expected, what is wrong; of a long one the parts that agree are counted.

    Where what is right is hidden, it says of each number whether it is, and no more.
    """
    rows = []
    for row in breakdown.rows:
        wrong = row.note or ("differs" if row.observed != row.expected else "")
        told = ("no" if wrong else "yes", "") if hidden else (row.expected, wrong)
        rows.append((row.name, row.observed, *told, bool(wrong)))
    wrong_ones = [row for row in rows if row[-1]]
    kept = rows if len(rows) <= most else wrong_ones[:most]
    headings = ("", "yours", "right" if hidden else "expected", "", False)
    table = [
        tuple(cut(inert(str(t)), _LABEL_LIMIT if i == 0 else _VALUE_LIMIT) for i, t in enumerate(r))
        for r in (headings, *kept)
    ]
    names, left, right = (max(cells(row[i]) for row in table) for i in range(3))
    for name, yours, expected, remark, _ in table:
        line = padded(name, names + _GAP) + padded(yours, left, right=True)
        line += padded(expected, right + _GAP, right=True)
        line += " " * _GAP + remark if remark else ""
        yield Text(" " * INDENT + cut(line.rstrip(), width - INDENT))
    if left_out := len(rows) - len(kept):
        agree = len(rows) - len(wrong_ones)
        tail = f"{agree} parts agree" if left_out == agree else f"{left_out} parts are not shown"
        yield Text(" " * INDENT + f"... {tail}")


def bar_lines(bars: Bars, width: int, *, most: int) -> Iterator[Text]:
    """One line per bar, the largest filling the width there is; then what was kept."""
    drawn = [b for b in bars.bars if b.label != "reference" or len(bars.bars) < 3]
    texts = [(cut(inert(b.label), _LABEL_LIMIT), cut(inert(b.text), _LABEL_LIMIT)) for b in drawn]
    kept = "kept by yours" if bars.details else ""
    across = max(map(cells, (kept, *(label for label, _ in texts)))) + 3
    right = max((cells(value) for _, value in texts), default=0)
    longest = max(min(width - INDENT - 3 - across - right, _LONGEST_BAR), _SHORTEST_BAR)
    largest = max((b.value for b in drawn if math.isfinite(b.value)), default=0.0)
    for bar, (label, value) in zip(drawn, texts, strict=True):
        line = padded(label, across) + padded("#" * _length(bar.value, largest, longest), longest)
        yield Text(" " * INDENT + line + "   " + padded(value, right, right=True))
    for detail in bars.details[:most]:
        for line in wrapped(inert(detail), width - INDENT - across):
            yield Text(" " * INDENT + padded(kept, across) + line)
            kept = ""
    if (more := len(bars.details) - most) > 0:
        yield Text(" " * (INDENT + across) + f"... and {more} more")


def _length(value: float, largest: float, longest: int) -> int:
    """Cells of a bar: at least one for anything above zero, all of them for what has no end."""
    if value == math.inf:
        return longest
    return max(1, round(longest * (value / largest))) if value > 0 else 0  # NaN: 0


def curve_lines(curve: Curve, width: int) -> Iterator[Text]:
    """Yours and a right one at six steps, and how fast each falls."""
    steps = max(len(curve.yours), len(curve.expected))
    if not steps:
        return
    names = max(map(len, _NAMES.values()))
    most = max(2, min(_POINTS, (width - INDENT - names) // _WIDEST_POINT))
    at = sorted({round(n * (steps - 1) / (most - 1)) for n in range(most)})
    rows = [("step", [f"{step:,}" for step in at])]
    series = {"yours": curve.yours, "expected": curve.expected}
    for name, values in series.items():
        rows.append((_NAMES[name], [number(values[i], 3) if i < len(values) else "" for i in at]))
    for name, points in rows:
        yield Text(
            " " * INDENT
            + padded(name, names)
            + "".join(padded(cell, _WIDEST_POINT, right=True) for cell in points).rstrip()
        )
    for name, values in series.items():
        broken = next((i for i, v in enumerate(values) if not math.isfinite(v)), None)
        if broken is not None:
            word = _NAMES[name].capitalize()
            yield Text(" " * INDENT + f"{word} is {number(values[broken])} from step {broken} on.")
    falls = [_fall(values) for values in series.values()]
    if all(falls):
        text = f"On average yours falls by {falls[0]} per step, a right one by {falls[1]}."
        yield from paragraph(text, width, indent=INDENT)


def _fall(values: Sequence[float]) -> str:
    """By how much a series falls on average: "3.5 %"; '' where it does not, or may not be said."""
    if len(values) < 2 or not all(0 < v < math.inf for v in (values[0], values[-1])):
        return ""
    share = 1 - (values[-1] / values[0]) ** (1 / (len(values) - 1))
    return f"{number(100 * share, 2)} %" if share > 0 else ""
