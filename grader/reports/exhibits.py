"""What sets a failing check's numbers side by side: a table, bars, or two curves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from grader.model.numerals import number
from grader.model.report import Bar, Bars, Breakdown, Curve, Exhibit, Grids
from grader.reports.grids import grid_lines
from grader.reports.inert import inert
from grader.reports.page import INDENT, cut, hanging, measure, padded
from grader.reports.palette import QUIET, STRONG, WRONG

_GAP = 4  # cells between the columns of a table
_MOST_ROWS = 16
_LABEL_LIMIT = 28
_VALUE_LIMIT = 24
_LONGEST_BAR = 40
_SHORTEST = 8  # bar or curve
_MOST_DETAILS = 8
_LONGEST_CURVE = 48
_BLOCKS = "▁▂▃▄▅▆▇█"


def exhibit_lines(exhibit: Exhibit, width: int) -> Iterable[Text]:
    """An exhibit as lines of at most `width` cells."""
    match exhibit:
        case Grids():
            return grid_lines(exhibit, width)
        case Breakdown():
            return breakdown_lines(exhibit, width)
        case Bars():
            return bar_lines(exhibit, measure(width))
        case Curve():
            return curve_lines(exhibit, measure(width))


def breakdown_lines(breakdown: Breakdown, width: int) -> Iterator[Text]:
    """A table: yours, expected, what is wrong; of a long one the parts that agree are counted."""
    rows = [
        (
            cut(inert(row.name), _LABEL_LIMIT),
            cut(inert(row.observed), _VALUE_LIMIT),
            cut(inert(row.expected), _VALUE_LIMIT),
            # A line that differs without a note still says so.
            inert(row.note) or ("differs" if row.observed != row.expected else ""),
        )
        for row in breakdown.rows
    ]
    wrong = [row for row in rows if row[-1]]
    kept = rows if len(rows) <= _MOST_ROWS else wrong[:_MOST_ROWS]
    table = [("", "yours", "expected", ""), *kept]
    names, left, right = (max(cell_len(row[i]) for row in table) for i in range(3))
    for name, yours, expected, remark in table:
        lead = [
            (padded(name, names + _GAP), ""),
            (padded(yours, left, right=True), WRONG if remark else ""),
            (padded(expected, right + _GAP, right=True), ""),
        ]
        if remark:
            lead.append((" " * _GAP, ""))
            yield from hanging(lead, remark, width, indent=INDENT, style=WRONG)
        else:
            style = "" if name else QUIET
            yield Text(" " * INDENT, style).append_text(Text.assemble(*lead))
    if left_out := len(rows) - len(kept):
        agree = len(rows) - len(wrong)
        tail = f"{agree} parts agree" if left_out == agree else f"{left_out} parts are not shown"
        yield Text(" " * INDENT + f"... {tail}", QUIET)


def bar_lines(bars: Bars, width: int) -> Iterator[Text]:
    """One line per bar, the largest filling the width there is; then the details."""
    texts = [
        (cut(inert(b.label), _LABEL_LIMIT), cut(inert(b.text), _LABEL_LIMIT)) for b in bars.bars
    ]
    across = max((cell_len(label) for label, _ in texts), default=0) + 3
    right = max((cell_len(value) for _, value in texts), default=0)
    longest = max(min(width - INDENT - 2 - across - right, _LONGEST_BAR), _SHORTEST)
    largest = max((b.value for b in bars.bars if math.isfinite(b.value)), default=0.0)
    for bar, (label, value) in zip(bars.bars, texts, strict=True):
        line = padded("#" * _length(bar, largest, longest), longest + 2) + padded(label, across)
        line += padded(value, right, right=True)
        yield Text(" " * INDENT).append(line, STRONG if bar.label == "yours" else "")
    yield from [Text()] if bars.details else []
    for detail in bars.details[:_MOST_DETAILS]:
        yield Text(" " * INDENT + cut(inert(detail), width - INDENT))
    if (more := len(bars.details) - _MOST_DETAILS) > 0:
        yield Text(" " * INDENT + f"... and {more} more", QUIET)


def _length(bar: Bar, largest: float, longest: int) -> int:
    """Cells of a bar: at least one for anything above zero, all of them for what has no end."""
    if bar.value == math.inf:
        return longest
    return max(1, round(longest * (bar.value / largest))) if bar.value > 0 else 0  # NaN: 0


def curve_lines(curve: Curve, width: int) -> Iterator[Text]:
    """A sparkline each, on one scale; what it is, and where a series stopped being finite."""
    series = {"yours": curve.yours, "expected": curve.expected}
    ends = {
        name: f"{number(values[0])} to {number(values[-1])}" if values else "no values"
        for name, values in series.items()
    }
    across = max(map(len, series)) + 2
    most = width - INDENT - across - 2 - max(map(len, ends.values()))
    most = max(min(most, _LONGEST_CURVE), _SHORTEST)
    steps = max(map(len, series.values()))
    every = [v for values in series.values() for v in values if math.isfinite(v)]
    logarithmic = bool(every) and min(every) >= 0 and max(every) > 0
    remarks = [f"{steps:,} steps, {'log' if logarithmic else 'linear'} scale"]
    for name, values in series.items():
        graph = _graph(_sampled(values, most), every, logarithmic=logarithmic)
        yield (
            Text(" " * INDENT)
            .append(f"{name:{across}}", STRONG * (name == "yours"))
            .append(f"{graph:{min(most, steps) + 2}}{ends[name]}")
        )
        broken = next((i for i, v in enumerate(values) if not math.isfinite(v)), None)
        if broken is not None:
            remarks.append(f"{name} is {number(values[broken])} from step {broken}")
    yield Text(" " * INDENT + "; ".join(remarks), QUIET)


def _sampled(values: Sequence[float], most: int) -> Sequence[float]:
    """Evenly spaced values, the first and the last among them."""
    if len(values) <= most:
        return values
    return [values[round(n * (len(values) - 1) / (most - 1))] for n in range(most)]


def _graph(values: Sequence[float], every: Sequence[float], *, logarithmic: bool) -> str:
    """Each value as a block between the least and the greatest of all."""
    floor = min((v for v in every if v > 0), default=0.0)

    def height(value: float) -> float:  # halved: a difference of two is finite
        return math.log(max(value, floor)) if logarithmic else value / 2

    low, high = height(min(every, default=0.0)), height(max(every, default=0.0))
    spread, most = high - low or 1.0, len(_BLOCKS)
    return "".join(
        _BLOCKS[min(int((height(v) - low) / spread * most), most - 1)] if math.isfinite(v) else "?"
        for v in values
    )
