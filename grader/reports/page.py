"""A page: lines that already fit, and the few tools that make them fit.

Renderers here break their own lines, because hanging indents, marks and columns must come
out alike on every terminal.  Rich is left with color, and with knowing what the output
can encode.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from grader.reports.inert import inert
from grader.reports.palette import QUIET, STRONG
from grader.reports.sheet import Spans, cells
from grader.reports.text import Text, chopped, plain

NARROWEST = 40  # below this nothing can be laid out; lines then simply run over
MEASURE = 80  # prose and headers stay within this however wide the window is

BOUND = "\xa0"  # a space that no line is broken at
_SHAPE = re.compile(r"\(\d+(?:, ?\d+)*,?\)")
_PARAGRAPH = 4000  # characters of one paragraph; feedback is the longest there is
_SHORT = 24  # parts of a list up to this long are kept whole
INDENT = 4  # cells before what belongs to a heading

Line = Text  # on one line, or code on several


class Page:
    """Lines to print one below another; what the output cannot encode is written as escapes."""

    def __init__(self, lines: Iterable[Line]) -> None:
        """Keep the lines, without blank ones at either end or two blank ones in a row."""
        self.lines: list[Line] = []
        for line in lines:
            if not (_blank(line) and (not self.lines or _blank(self.lines[-1]))):
                self.lines.append(line)
        if self.lines and _blank(self.lines[-1]):
            self.lines.pop()

    @classmethod
    def of(cls, parts: Iterable[Iterable[Line]]) -> Page:
        """Parts with a blank line between them; an empty one leaves no trace."""
        return cls(line for part in parts for line in (*part, Text()))

    @property
    def spans(self) -> list[Spans]:
        """The lines as they are written."""
        return [line.spans for line in self.lines]

    @property
    def plain(self) -> str:
        """What the page says."""
        return plain(self.lines)


def _blank(line: Line) -> bool:
    return not line.plain.strip()


def measure(width: int) -> int:
    """How wide prose may run in a window of `width` columns."""
    return min(max(width, NARROWEST), MEASURE)


def wrapped(text: str, width: int, *, first: int = 0) -> list[str]:
    """The words of one paragraph on lines of at most `width` cells; words longer are broken.

    The first line may take `first` cells more.  Spaces inside a line are kept as they are; a cell
    is half of a CJK character.  A shape such as (2, 3) stays on one line, and so does what
    `listed` has bound.
    """
    width = max(width, 8)
    text = _SHAPE.sub(lambda m: m[0].replace(" ", BOUND), text)
    lines: list[str] = []
    current = ""
    for piece in text.split(" "):
        trial = f"{current} {piece}" if current else piece
        if cells(trial) <= width + (0 if lines else first):
            current = trial
            continue
        if current.strip():
            lines.append(current.rstrip())
        *whole, current = chopped(piece, width)
        lines.extend(whole)
    if current.strip() or not lines:
        lines.append(current.rstrip())
    return [line.replace(BOUND, " ") for line in lines]


def listed(text: str) -> str:
    """A list such as "kernel 3, stride 1", bound so that it breaks after commas only."""
    parts = text.split(", ")
    return ", ".join(p.replace(" ", BOUND) if len(p) <= _SHORT else p for p in parts)


def hanging(
    lead: Sequence[tuple[str, str]], text: str, width: int, *, indent: int = 0, style: str = ""
) -> list[Text]:
    """A paragraph behind a lead of (text, style) spans, its further lines under its first.

    `text` is made inert here; the lead is the caller's.
    """
    text = inert(text, _PARAGRAPH)
    start = indent + sum(cells(part) for part, _ in lead)
    first = Text(" " * indent).append_text(Text.assemble(*lead))
    if start > width - 16:  # too narrow for a column of its own
        first.rstrip()
        start, body = indent + 4, wrapped(text, width - indent - 4)
    else:
        head, *body = wrapped(text, width - start)
        first.append(head, style)
    return [first, *(Text(" " * start).append(line, style) for line in body)]


def flowing(lead: str, text: str, width: int, *, indent: int = 0) -> list[Text]:
    """A paragraph that begins with a section's word, its further lines below one another, inside.

    `text` is made inert here; the lead is the caller's.
    """
    inside = indent + INDENT
    whole = f"{lead} {inert(text, _PARAGRAPH)}" if lead else inert(text, _PARAGRAPH)
    head, *body = wrapped(whole, width - inside, first=INDENT)
    first = Text(" " * indent + head)
    if head.startswith(lead):
        first.stylize(STRONG, indent, indent + len(lead))
    return [first, *(Text(" " * inside + line) for line in body)]


def paragraph(text: str, width: int, *, indent: int = 0, style: str = "") -> list[Text]:
    """A paragraph between an indent and the width."""
    return hanging((), text, width, indent=indent, style=style)


def cut(text: str, width: int) -> str:
    """Text cut to `width` cells, ending in "..." when something was lost."""
    if cells(text) <= width:
        return text
    return chopped(text, max(width - 3, 1))[0] + "..."


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Text filled with spaces to `width` cells."""
    fill = " " * max(0, width - cells(text))
    return fill + text if right else text + fill


def heading(name: str, title: str, right: str, width: int) -> list[Text]:
    """A name and a title at the left and more at the right; below them where they are long."""
    lead = ((name, STRONG), ("  ", ""))
    *above, last = hanging(lead, title, width) if title else [Text.assemble(lead[0])]
    gap = width - last.cell_len - cells(right)
    if above or gap < 2:
        above.append(last)
        last, gap = Text(), max(0, width - cells(right))
    return [*above, last.append(" " * gap).append(right, QUIET)]
