"""What came of a run of a script: its numbers, how long it took, and what the script printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from grader.reports.blocks import BETWEEN, Block, Code, Paragraph
from grader.reports.figures import trace
from grader.reports.inert import inert_lines

if TYPE_CHECKING:
    from grader.session.experiment import Ran

MOST_LINES = 20  # of what the script prints
MOST_NAMES = 8  # of numbers


def numbers(value: object) -> dict[str, list[float]]:
    """The numbers that a run returned, by name: one number is a series of one; all else is left."""
    named = value if isinstance(value, Mapping) else {"result": value}
    found = {}
    for name, one in islice(named.items(), MOST_NAMES):
        one = one.tolist() if hasattr(one, "tolist") else one
        several = one if isinstance(one, (list, tuple)) else [one]
        if several and all(isinstance(x, (int, float)) for x in several):
            found[str(name)] = [float(x) for x in several]
    return found


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
    shown, before = inert_lines(ran.end or ran.printed, MOST_LINES)
    if ran.end or before:
        shown.insert(0, f"... the last of {ran.bytes_printed:,} characters that it printed ...")
    yield Code(tuple(shown), 2)


def _course(series: Sequence[float]) -> str:
    """Where a series begins and ends."""
    first, last = (f"{x:.4g}" for x in (series[0], series[-1]))
    return last if len(series) == 1 else f"{first} -> {last}"
