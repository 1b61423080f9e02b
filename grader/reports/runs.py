"""What came of a run of a script: its numbers, how long it took, and what the script printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from grader.reports import sheet
from grader.reports.inert import inert
from grader.reports.page import Page, paragraph
from grader.reports.text import Text
from grader.reports.trace import raised_lines

if TYPE_CHECKING:
    from grader.session.experiment import Ran

MOST_LINES = 20  # of what the script prints
MOST_NAMES = 8  # of numbers
MOST_POINTS = 1000  # of a series


def numbers(value: object) -> dict[str, list[float]]:
    """The numbers that a run returned, by name: one number is a series of one; all else is left."""
    named = value if isinstance(value, Mapping) else {"result": value}
    found = {}
    for name, one in islice(named.items(), MOST_NAMES):
        one = one.tolist() if hasattr(one, "tolist") else one
        several = list(one[:MOST_POINTS]) if isinstance(one, (list, tuple)) else [one]
        if several and all(isinstance(x, (int, float)) for x in several):
            found[str(name)] = [float(x) for x in several]
    return found


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
    """The first lines that the script printed; nothing in them acts on a terminal."""
    lines = ran.printed.rstrip("\r\n").split("\n") if ran.printed.strip() else []
    yield from (Text(f"  {inert(line.rstrip())}") for line in lines[:MOST_LINES])
    more, bytes_ = len(lines) - MOST_LINES, ran.left
    if bytes_ > 0:
        yield Text(f"  ... and {bytes_ + sum(map(len, lines[MOST_LINES:])):,} more characters")
    elif more > 0:
        yield Text(f"  ... {more} more line{'s' * (more > 1)}")
