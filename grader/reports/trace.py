"""An exception as the author of the submission needs it; no frames of anybody else are in it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from grader.model.report import UNREADABLE, Frame, Raised
from grader.reports.inert import inert
from grader.reports.page import INDENT, cut, hanging, listed, padded, paragraph
from grader.reports.sheet import cells
from grader.reports.text import Text

_MESSAGE_LIMIT = 400  # einsum and torch explain themselves at length; a matrix printed whole is cut


def raised_lines(raised: Raised, width: int, filename: str, *, most: int = 6) -> list[Text]:
    """The candidate's own lines, then the exception, then what the call was given.

    Args:
        raised: the exception.
        width: cells of a line.
        filename: of the submission, for the places; without it "line 14".
        most: lines of a long traceback that are shown.
    """
    if raised.column is not None and raised.frames:
        lines = _syntax(raised.frames[-1], raised.column, width, filename)
    else:
        lines = _frames(raised.frames, width, filename, most)
    if raised.type == UNREADABLE:
        return lines  # the sentence of the page says it
    name, message = inert(raised.type, 80), " ".join(raised.message.split())
    said = f"{name}: {inert(message, _MESSAGE_LIMIT)}" if message else name
    lines += paragraph(said, width, indent=INDENT)
    if raised.called_with:
        given = listed(inert(raised.called_with))
        lines += hanging((("called with ", ""),), given, width, indent=INDENT)
    return lines


def _frames(frames: Sequence[Frame], width: int, filename: str, most: int) -> list[Text]:
    """A traceback, repeats counted (a recursion) and the middle of a long one left out."""
    runs = [(frame, len(list(repeats))) for frame, repeats in itertools.groupby(frames)]
    first = most // 3
    left = sum(n for _, n in runs[first : first - most]) if len(runs) > most else 0
    shown = [*runs[:first], *runs[first - most :]] if left else runs
    several = len({frame.function for frame, _ in shown}) > 1
    places = [
        line_of(frame, filename) + f"  in {cut(inert(frame.function), 24)}" * several
        for frame, _ in shown
    ]
    across = max(map(cells, places), default=0) + 2
    lines: list[Text] = []
    for number, ((frame, times), place) in enumerate(zip(shown, places, strict=True)):
        if left and number == first:
            lines.append(Text(" " * INDENT + f"... {left} more lines"))
        lead = ((padded(place, across), ""),)
        lines += hanging(lead, inert(frame.source.strip()), width, indent=INDENT)
        if times > 1:
            lines.append(Text(" " * INDENT + f"... the same line {times - 1:,} times more"))
    return lines


def _syntax(frame: Frame, column: int, width: int, filename: str) -> list[Text]:
    """The line that does not parse, with a caret below the column (1-based)."""
    source = frame.source.rstrip("\r\n")
    start = len(source) - len(source.lstrip())
    at = max(column - 1 - start, 0)
    source = source[start:]
    place = line_of(frame, filename)
    before = INDENT + cells(place) + 2
    room = max(width - before, 16)
    if at > room - 8:  # a long line: keep the neighborhood of the caret
        skip = at - room // 2
        source, at = "..." + source[skip:], at - skip + 3
    line = Text(" " * INDENT + padded(place, before - INDENT) + cut(inert(source), room))
    return [line, Text(" " * (before + cells(inert(source[:at]))) + "^")]


def line_of(frame: Frame, filename: str) -> str:
    """Where a frame is: "submission.py:14"."""
    return f"{inert(filename, 40)}:{frame.line}" if filename else f"line {frame.line}"
