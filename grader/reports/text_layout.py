r"""Lines of a page in a few styles, and text that cannot act on a terminal.

A submission or a bank chooses messages, source lines and output.  Shown raw, these could move the
cursor, recolor a FAIL or reverse a line.  So every character that acts instead of being seen is
written as its escape (\x1b), and very long text is cut with a notice.

This file imports only the standard library, so that listing questions starts fast.  A command or
a path is never broken: a word that is wider than the page stays whole.
"""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

NARROWEST, WIDEST = 30, 80  # columns that a page is laid out for, however wide the window is
BOLD, REVERSE, RED, GREEN = "1", "7", "31", "32"  # numbers in an escape sequence: \x1b[1m
GAP_TEXT = "   "  # between commands on a line, and between a title and the facts after it
LINE_LIMIT = 400  # characters of one line: five lines of a terminal, more than any honest one

Spans = tuple[tuple[str, str], ...]  # texts, each with a style: (("FAIL", BOLD), (" 2 of 3", ""))
Line = str | Spans

_ACTING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # control, format (bidi), surrogate, separators
_MAX_MARKS = 2  # combining marks on one letter; no script in use stacks more
_ACTS = re.compile(r"[^\x20-\x7e\n\t]")
_NO_BREAK_SPACE = "\xa0"
_FILLER = "\0"  # in no text, because it is always escaped
_CODE = re.compile(r"`[^`\n]+`|\(\d+(?:, ?\d+)*,?\)")  # code or a shape (2, 3): stays on one line


def escape_line(text: str, limit: int = LINE_LIMIT) -> str:
    r"""Return one line of text in which nothing acts on a terminal.

    Line breaks become a visible \n, tabs four spaces.  Text beyond `limit` is cut, with a notice.
    """
    kept = text[:limit]
    if not (kept.isascii() and kept.isprintable()):
        kept = _escape_acting(kept)
    excess = len(text) - limit
    if excess > 0:
        return f"{kept} ... ({excess:,} more characters)"
    return kept


def last_lines_escaped(text: str, most: int) -> tuple[list[str], int]:
    """Return the last `most` lines of a text, escaped, and how many lines come before them."""
    lines = [line.removesuffix("\r") for line in text.strip("\r\n").split("\n")]
    dropped = max(0, len(lines) - most)
    return [escape_line(line.rstrip()) for line in lines[dropped:]], dropped


def escape_text(text: str) -> str:
    """Return text of many lines in which nothing acts on a terminal; tabs stay as they are."""
    return _ACTS.sub(lambda char: _escape_acting(char[0]), text)


def _escape_acting(text: str) -> str:
    pieces: list[str] = []
    marks = 0
    for char in text.replace("\t", "    "):
        category = unicodedata.category(char)
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if category in _ACTING or marks > _MAX_MARKS:
            char = char.encode("unicode_escape").decode("ascii")
        pieces.append(char)
    return "".join(pieces)


def bold(text: str, rest: str = "") -> Spans:
    """Return a line with a bold `text` and then a plain `rest`."""
    return ((text, BOLD), (rest, ""))


def next_step_lines(commands: Iterable[str], width: int, first: str = "") -> Iterator[Line]:
    """Yield the commands to type next.

    A command that is too long is left for the terminal to wrap, so that it can be copied whole.
    `first` says what to do before the first command.
    """
    rows = [first] if first else []
    for command in commands:
        gap = " " if rows == [first] else GAP_TEXT
        if rows and display_width(f"{rows[-1]}{gap}{command}") <= width - 6:
            rows[-1] += f"{gap}{command}"
        else:
            rows.append(command)
    for index, row in enumerate(rows):
        yield f"      {row}" if index else bold("Next:", f" {row}")


def without_styles(line: Line) -> str:
    """Return the text of a line without its styles."""
    if isinstance(line, str):
        return line
    return "".join(text for text, _ in line)


def display_width(text: str) -> int:
    """Return the number of columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    combining = sum(unicodedata.combining(char) != 0 for char in text)
    return len(text) + wide - combining


def line_width(line: Line) -> int:
    """Return the number of columns that a line takes on a terminal."""
    return display_width(without_styles(line).rstrip())


def count_rows(lines: Iterable[Line], width: int) -> int:
    """Return the rows that lines take on a terminal, which wraps lines that are too long."""
    return sum(max(1, math.ceil(line_width(line) / width)) for line in lines)


def truncate(text: str, width: int) -> str:
    """Return the text, cut with "..." if it is too wide."""
    if display_width(text) <= width:
        return text
    room = max(width - 3, 1)
    kept = text[:room]
    while display_width(kept) > room:
        kept = kept[:-1]
    return f"{kept.rstrip()}..."


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Fill a text with spaces to a width; if `right`, before the text."""
    fill = " " * (width - display_width(text))
    return fill + text if right else text + fill


def wrap_words(text: str, width: int, *, first: str = "", indent: str | None = None) -> list[str]:
    """Wrap the words of a paragraph at `width` columns; code in backticks stays whole.

    The first line begins with `first`, all others with `indent` (default: spaces below `first`).
    """
    if indent is None:
        indent = " " * min(display_width(first), max(width - 30, 4))

    def keep_together(code: re.Match[str]) -> str:
        if display_width(code[0]) > width - 8:
            return code[0]
        return code[0].replace(" ", _NO_BREAK_SPACE)

    words = _CODE.sub(keep_together, " ".join(re.split(r"[ \t\n]+", text.strip(" \t\n"))))
    lead = first.rstrip(" ")
    gap = first[len(lead) :]
    if lead and display_width(indent + words.partition(" ")[0]) > width:
        gap = gap.replace(" ", _NO_BREAK_SPACE)  # a word that fits on no line stays on the first
    return _wrap(lead.replace(" ", _NO_BREAK_SPACE) + gap + words, width, indent)


def fold_code(line: str, width: int) -> list[str]:
    """Break a line of code at blanks to fit a width; the lines after a break are indented."""
    if display_width(line) <= width:
        return [line]
    code = line.lstrip()
    indent = min(len(line) - len(code), width // 2)
    return _wrap(" " * indent + code, width, " " * min(indent + 4, width // 2))


def _wrap(text: str, width: int, indent: str) -> list[str]:
    """Break a line at blanks, never in a word; lines after the first begin with `indent`."""
    # textwrap counts characters, so a character that takes two columns is followed by a filler.
    counted = "".join(char + _FILLER * (display_width(char) - 1) for char in text)
    words = counted.lstrip(" ")
    lines = textwrap.wrap(
        words,
        width,
        initial_indent=" " * (len(counted) - len(words)),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    shown = [line.replace(_FILLER, "").replace(_NO_BREAK_SPACE, " ").rstrip() for line in lines]
    return shown or [""]


def format_columns(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[str] = (),
    indent: int = 0,
) -> list[Line]:
    """Lay out a table; no cell is folded, and a row with one cell is a heading inside the table.

    A column that is empty in all rows is left out; the columns named in `right` are right-aligned.
    """
    full_rows = [row for row in rows if len(row) == len(head)]
    columns = [column for column in range(len(head)) if any(row[column] for row in full_rows)]
    widths = {n: max(display_width(row[n]) for row in [head, *full_rows]) for n in columns}

    def format_row(row: Sequence[str]) -> str:
        if len(row) < len(head):
            return row[0]
        cells = [pad(row[n], widths[n], right=head[n] in right) for n in columns]
        return " " * indent + "  ".join(cells).rstrip()

    lines: list[Line] = [format_row(row) for row in rows]
    if any(cell.strip() for cell in head):
        lines.insert(0, bold(format_row(head)))
    return lines


def table_sentences(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a sentence for each row of a table: each filled cell after the name of its column."""
    for row in rows:
        if len(row) < len(head):
            yield f"{row[0]}:"
        else:
            cells = zip(head, row, strict=True)
            yield ", ".join(
                f"{name} {cell.strip()}".strip() for name, cell in cells if cell.strip()
            )
