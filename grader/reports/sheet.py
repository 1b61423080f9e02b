"""Lines with the few styles there are: reverse, bold, and red or green for a sign.

What is laid out here needs nothing but the standard library, so that a list costs no import.
A command or a path is never broken: a word that is wider than the page stays whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

NARROWEST, WIDEST = 60, 80  # columns that a page is laid out for, however wide the window is
BOLD, REVERSE, RED, GREEN = "1", "7", "31", "32"  # SGR
GAP = "   "  # between commands on a line, and between a title and what follows it

Spans = tuple[tuple[str, str], ...]  # texts with a style each
Line = str | Spans

_BOUND = "\xa0"  # a space that no line is broken at
_CODE = re.compile(r"`[^`\n]+`|\(\d+(?:, ?\d+)*,?\)")  # or a shape: stays on one line


def bold(text: str, rest: str = "") -> Spans:
    """A line whose beginning is bold."""
    return ((text, BOLD), (rest, ""))


def steps(*commands: str) -> Spans:
    """The line of what to type next."""
    return bold("Next:", f" {GAP.join(filter(None, commands))}")


def plain(line: Line) -> str:
    """What a line says, without its styles."""
    return line if isinstance(line, str) else "".join(text for text, _ in line)


def text(lines: Iterable[Line]) -> str:
    """What lines say, each with its end."""
    return "".join(f"{plain(line).rstrip(' ')}\n" for line in lines)


def joined(words: Iterable[object]) -> str:
    """Words in a row: "one", "one and two", "one, two and three"."""
    texts = [str(word) for word in words]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def cells(text: str) -> int:
    """The columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    wide = (unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + sum(wide) - sum(unicodedata.combining(c) != 0 for c in text)


def cut(text: str, width: int) -> str:
    """The text, or as much of it as fits before "..."."""
    if cells(text) <= width:
        return text
    kept = text[: max(width - 3, 1)]
    while cells(kept) > max(width - 3, 1):
        kept = kept[:-1]
    return f"{kept.rstrip()}..."


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Text filled with spaces to a width."""
    fill = " " * (width - cells(text))
    return fill + text if right else text + fill


def wrapped(text: str, width: int, *, first: str = "", indent: str | None = None) -> list[str]:
    """The words of a paragraph on lines of at most `width` columns; code in backticks stays whole.

    Args:
        text: the paragraph.
        width: of the lines, indents included.
        first: what the first line begins with.
        indent: what all others begin with; blanks as wide as `first` if not given.
    """
    indent = " " * cells(first) if indent is None else indent
    whole = " ".join(re.split(r"[ \t\n]+", text.strip(" \t\n")))
    bound = _CODE.sub(
        lambda m: m[0].replace(" ", _BOUND) if cells(m[0]) <= width - 8 else m[0], whole
    )
    lines, line = [], first
    for word in bound.split(" "):
        trial = f"{line}{word}" if line in (first, indent) else f"{line} {word}"
        if cells(trial) > width and line not in (first, indent):
            lines.append(line)
            trial = indent + word
        line = trial
    lines.append(line)
    return [line.replace(_BOUND, " ").rstrip() for line in lines]


def columns(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Sequence[str] = (),
    indent: int = 0,
    plain: bool = False,
    style: Callable[[Sequence[str]], str] = lambda _: "",
) -> list[Line]:
    """A table; a row with one cell is a heading inside it.

    Args:
        head: the names of the columns; one that is empty in all rows is left out.
        rows: cells, none of which is ever folded.
        right: the columns that are aligned at their right.
        indent: blanks before every line.
        plain: a row is a sentence, each cell after the name of its column.
        style: of a row.
    """
    rows = list(rows)
    full = [row for row in rows if len(row) == len(head)]
    kept = [n for n, _ in enumerate(head) if any(row[n] for row in full)]
    if plain:
        return [
            ", ".join(f"{head[n]} {row[n].strip()}".strip() for n in kept if row[n].strip())
            if len(row) == len(head)
            else f"{row[0]}:"
            for row in rows
        ]
    widths = {n: max(cells(row[n]) for row in [head, *full]) for n in kept}

    def laid(row: Sequence[str]) -> str:
        shown = (padded(row[n], widths[n], right=head[n] in right) for n in kept)
        return " " * indent + "  ".join(shown).rstrip()

    lines: list[Line] = [bold(laid(head))] if any(map(str.strip, head)) else []
    for row in rows:
        text = laid(row) if len(row) == len(head) else row[0]
        lines.append(((text, style(row)),) if style(row) else text)
    return lines
