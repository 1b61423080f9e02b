"""Two series over steps: a sparkline each, on one logarithmic scale, with the ends in figures."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from grader.model.numerals import number
from grader.model.report import Curve
from grader.reports.page import Line, measure
from grader.reports.palette import QUIET, STRONG

_INDENT = 4
_LONGEST = 48
_BLOCKS = "▁▂▃▄▅▆▇█"
_LETTERS = "_.-:=+*#"  # for an output that has no blocks, from low to high
_NOT_FINITE = "?"
_LABELS = {"yours": STRONG, "expected": ""}


class Spark:
    """A line of text whose graph falls back to ASCII where the output needs it."""

    def __init__(self, lead: Text, levels: Sequence[int | None], tail: Text) -> None:
        """Keep the graph as levels until the output is known."""
        self.lead, self.levels, self.tail = lead, levels, tail

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the line in what the output can encode."""
        marks = _LETTERS if options.ascii_only else _BLOCKS
        graph = "".join(_NOT_FINITE if level is None else marks[level] for level in self.levels)
        line = Text.assemble(self.lead, graph, self.tail)
        line.no_wrap, line.overflow = True, "ignore"
        yield line


def curve_lines(curve: Curve, width: int) -> list[Line]:
    """Yours above expected, then what the scale is and where a series stopped being finite."""
    series = {"yours": curve.yours, "expected": curve.expected}
    ends = {name: _ends(values) for name, values in series.items()}
    across = max(len(name) for name in series) + 2
    room = measure(width) - _INDENT - across - 2 - max(map(len, ends.values()))
    most = max(min(room, _LONGEST), 8)
    every = [v for values in series.values() for v in values if math.isfinite(v)]
    logarithmic = bool(every) and min(every) >= 0 and max(every) > 0
    lines: list[Line] = []
    for name, values in series.items():
        points = _sampled(values, most)
        levels = [_level(v, every, logarithmic=logarithmic) for v in points]
        lead = Text(" " * _INDENT).append(f"{name:{across}}", _LABELS[name])
        longest = min(most, max(len(v) for v in series.values()))
        gap = " " * (longest - len(points) + 2)
        lines.append(Spark(lead, levels, Text(gap + ends[name])))
    steps = max(len(v) for v in series.values())
    remarks = [f"{steps:,} steps, {'log' if logarithmic else 'linear'} scale"]
    remarks += [_broken(name, values) for name, values in series.items()]
    lines.append(Text(" " * _INDENT + "; ".join(filter(None, remarks)), QUIET))
    return lines


def _ends(values: Sequence[float]) -> str:
    if not values:
        return "no values"
    return f"{number(float(values[0]))} to {number(float(values[-1]))}"


def _broken(name: str, values: Sequence[float]) -> str:
    """Where a series left the numbers."""
    for step, value in enumerate(values):
        if not math.isfinite(value):
            return f"{name} is {number(float(value))} from step {step}"
    return ""


def _sampled(values: Sequence[float], most: int) -> list[float]:
    """Evenly spaced values, the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[round(n * (len(values) - 1) / (most - 1))] for n in range(most)]


def _level(value: float, every: Sequence[float], *, logarithmic: bool) -> int | None:
    if not math.isfinite(value):
        return None
    low, high = min(every), max(every)
    if logarithmic:
        floor = min(v for v in every if v > 0)
        value, low, high = (math.log(max(v, floor)) for v in (value, low, high))
    share = (value - low) / (high - low) if high > low else 0.0
    return min(len(_BLOCKS) - 1, int(share * len(_BLOCKS)))
