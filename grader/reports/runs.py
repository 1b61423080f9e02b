"""What came of a run of a script: its numbers, how long it took, and what the script printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from grader.reports.blocks import BETWEEN, Block, Code, Paragraph
from grader.reports.figures import trace

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


def page(ran: Ran, head: str, *, filename: str) -> Iterator[Block]:
    """The page of a run.

    Args:
        ran: what came of it.
        head: which one it was.
        filename: of the script.
    """
    said = [head] if ran.started else ["no run, nothing is used"]
    if ran.fault:
        said.append(ran.fault)
    else:
        said += [f"{name[:24]} {_course(each)}" for name, each in numbers(ran.value).items()]
    said += [f"{ran.seconds:.1f} s"] * ran.started
    yield Paragraph(BETWEEN.join(said))
    if ran.raised is not None:
        yield from trace(ran.raised, filename)
    yield Code(tuple(_printed(ran)), 2)


def _course(series: Sequence[float]) -> str:
    """Where a series begins and ends."""
    first, last = (f"{x:.4g}" for x in (series[0], series[-1]))
    return last if len(series) == 1 else f"{first} -> {last}"


def _printed(ran: Ran) -> Iterator[str]:
    """The first and the last lines that the script printed."""
    lines, end = (
        text.rstrip("\r\n").split("\n") if text.strip() else [] for text in (ran.printed, ran.end)
    )
    more = len(lines) - MOST_LINES
    if not end and more <= 0:
        yield from lines
        return
    half = MOST_LINES // 2
    yield from lines[:half]
    if end:
        yield f"... {ran.bytes_printed:,} characters in all ..."
    else:
        yield f"... {more} more line{'s' * (more > 1)} ..."
    yield from (end or lines)[-half:]
