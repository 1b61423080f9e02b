"""What came of a run of a script: its numbers, how long it took, and what the script printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from grader.reports import sheet
from grader.reports.inert import inert
from grader.reports.page import Page, paragraph
from grader.reports.text import Text
from grader.reports.trace import raised_lines

if TYPE_CHECKING:
    from grader.session.experiment import Ran

MOST_LINES = 20  # of what the script prints
MOST_NAMES = 8  # of numbers
MOST_POINTS = 1000  # of a series; of a longer one as many, evenly spread, both ends among them


def numbers(value: object) -> dict[str, list[float]]:
    """The numbers that a run returned, by name: one number is a series of one; all else is left."""
    named = value if isinstance(value, Mapping) else {"result": value}
    found = {}
    for name, one in islice(named.items(), MOST_NAMES):
        one = one.tolist() if hasattr(one, "tolist") else one
        several = _thinned(one) if isinstance(one, (list, tuple)) else [one]
        if several and all(isinstance(x, (int, float)) for x in several):
            found[str(name)] = [float(x) for x in several]
    return found


def _thinned(series: Sequence[Any]) -> list[Any]:
    """A series, or some points of one that is too long."""
    if len(series) <= MOST_POINTS:
        return list(series)
    last = len(series) - 1
    return [series[round(n * last / (MOST_POINTS - 1))] for n in range(MOST_POINTS)]


def page(ran: Ran, head: str, *, filename: str, width: int, plain: bool = False) -> Page:
    """The page of a run.

    Args:
        ran: what came of it.
        head: which one it was.
        filename: of the script.
        width: of the page, in columns.
        plain: whether to put each number on a line of its own.
    """
    said = [head] if ran.started else ["no run, nothing is used"]
    if ran.fault:
        said.append(inert(ran.fault))
    else:
        said += [f"{inert(n, 24)} {_course(each)}" for n, each in numbers(ran.value).items()]
    said += [f"{ran.seconds:.1f} s"] * ran.started
    lines = [Text(line) for line in said] if plain else paragraph(sheet.GAP.join(said), width)
    if ran.raised is not None:
        lines += raised_lines(ran.raised, width, filename)
    return Page([*lines, *_printed(ran)])


def _course(series: Sequence[float]) -> str:
    """Where a series begins and ends."""
    first, last = (f"{x:.4g}" for x in (series[0], series[-1]))
    return last if len(series) == 1 else f"{first} -> {last}"


def _printed(ran: Ran) -> Iterator[Text]:
    """The first and the last lines that the script printed; none of them acts on a terminal."""
    lines, end = _lines(ran.printed), _lines(ran.end)
    more = len(lines) - MOST_LINES
    if not end and more <= 0:
        yield from map(_line, lines)
        return
    half = MOST_LINES // 2
    yield from map(_line, lines[:half])
    if end:
        yield Text(f"  ... {ran.bytes_printed:,} characters in all ...")
    else:
        yield Text(f"  ... {more} more line{'s' * (more > 1)} ...")
    yield from map(_line, (end or lines)[-half:])


def _lines(printed: str) -> list[str]:
    return printed.rstrip("\r\n").split("\n") if printed.strip() else []


def _line(text: str) -> Text:
    return Text(f"  {inert(text.rstrip())}")
