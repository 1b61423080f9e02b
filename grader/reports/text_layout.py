r"""Lines with the few styles there are, and text in which nothing acts on a terminal.

A submission or a bank chooses messages, source lines and what is printed.  Shown raw, these could
move the cursor, recolor a FAIL or turn a line around.  So every character that acts instead of
being seen is written as its escape (\x1b), and very long text is cut with a notice.

All of this needs nothing but the standard library, so that a list costs no import.  A command or a
path is never broken: a word that is wider than the page stays whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

NARROWEST, WIDEST = 30, 80  # columns that a page is laid out for, however wide the window is
BOLD, REVERSE, RED, GREEN = "1", "7", "31", "32"  # SGR
GAP_TEXT = "   "  # between commands on a line, and between a title and what follows it
LINE_LIMIT = 400  # characters of one line: five lines of a terminal, more than any honest one

Spans = tuple[tuple[str, str], ...]  # texts with a style each
Line = str | Spans

_ACTING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # control, format (bidi), surrogate, separators
_MOST_MARKS = 2  # combining marks on one letter; no script in use stacks more
_ACTS = re.compile(r"[^\x20-\x7e\n\t]")
_BOUND = "\xa0"  # a space that no line is broken at
_CODE = re.compile(r"`[^`\n]+`|\(\d+(?:, ?\d+)*,?\)")  # or a shape: stays on one line


def escape_line(text: str, limit: int = LINE_LIMIT) -> str:
    r"""One line of text with nothing in it that acts on a terminal.

    Line breaks become a visible \n, tabs four spaces; what is cut at `limit` characters is counted.
    """
    kept = text[:limit]
    if not (kept.isascii() and kept.isprintable()):
        kept = _escaped(kept)
    cut = len(text) - limit
    return f"{kept} ... ({cut:,} more characters)" if cut > 0 else kept


def last_lines_escaped(text: str, most: int) -> tuple[list[str], int]:
    """The last `most` lines of a text, each inert, and how many came before them."""
    lines = [line.removesuffix("\r") for line in text.strip("\r\n").split("\n")]
    dropped = max(0, len(lines) - most)
    return [escape_line(line.rstrip()) for line in lines[dropped:]], dropped


def escape_text(text: str) -> str:
    """Text of many lines with nothing in it that acts on a terminal; tabs stay as they are."""
    if _ACTS.search(text) is None:
        return text
    return "".join(c if c in "\n\t" else _escaped(c) for c in text)


def _escaped(text: str) -> str:
    out: list[str] = []
    marks = 0
    for char in text.replace("\t", "    "):
        category = unicodedata.category(char)
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        acts = category in _ACTING or marks > _MOST_MARKS
        out.append(char.encode("unicode_escape").decode("ascii") if acts else char)
    return "".join(out)


def bold(text: str, rest: str = "") -> Spans:
    """A line whose beginning is bold."""
    return ((text, BOLD), (rest, ""))


def next_step_lines(commands: Iterable[str], width: int, first: str = "") -> Iterator[Line]:
    """What to type next; a command that is too long is left to the terminal: it copies whole.

    `first` says what to do before the first command.
    """
    rows = [first] if first else []
    for command in commands:
        gap = " " if rows == [first] else GAP_TEXT
        if rows and display_width(f"{rows[-1]}{gap}{command}") <= width - 6:
            rows[-1] += f"{gap}{command}"
        else:
            rows.append(command)
    for at, row in enumerate(rows):
        yield f"      {row}" if at else bold("Next:", f" {row}")


def without_styles(line: Line) -> str:
    """What a line says, without its styles."""
    return line if isinstance(line, str) else "".join(text for text, _ in line)


def display_width(text: str) -> int:
    """The columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    wide = (unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + sum(wide) - sum(unicodedata.combining(c) != 0 for c in text)


def truncate(text: str, width: int) -> str:
    """The text, or as much of it as fits before "..."."""
    if display_width(text) <= width:
        return text
    kept = text[: max(width - 3, 1)]
    while display_width(kept) > max(width - 3, 1):
        kept = kept[:-1]
    return f"{kept.rstrip()}..."


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Text filled with spaces to a width."""
    fill = " " * (width - display_width(text))
    return fill + text if right else text + fill


def wrap_words(text: str, width: int, *, first: str = "", indent: str | None = None) -> list[str]:
    """The words of a paragraph on lines of at most `width` columns; code in backticks stays whole.

    The first line begins with `first`, all others with `indent`: blanks as wide, if not given.
    """
    indent = " " * min(display_width(first), max(width - 30, 4)) if indent is None else indent
    whole = " ".join(re.split(r"[ \t\n]+", text.strip(" \t\n")))
    bound = _CODE.sub(
        lambda m: m[0].replace(" ", _BOUND) if display_width(m[0]) <= width - 8 else m[0], whole
    )
    lines = []
    line = first
    pieces = (
        word.split(_BOUND) if display_width(word) > width - 8 else [word]
        for word in bound.split(" ")
    )
    for word in chain.from_iterable(pieces):
        trial = f"{line}{word}" if line in (first, indent) else f"{line} {word}"
        stays = not line.strip() or (line == first and display_width(indent + word) > width)
        if display_width(trial) > width and not stays:
            lines.append(line)
            trial = indent + word
        line = trial
    return [line.replace(_BOUND, " ").rstrip() for line in [*lines, line]]


def fold_code(line: str, width: int) -> Iterator[str]:
    """Break a line of code at blanks to fit a width; what follows a break is indented further."""
    words = line.lstrip()
    indent = min(len(line) - len(words), width // 2)
    line = line if display_width(line) <= width else " " * indent + words
    hang = " " * min(indent + 4, width // 2)
    while display_width(line) > width:
        blanks = [at for at, sign in enumerate(line) if sign == " " and line[:at].strip()]
        if not blanks:  # one long word
            break
        end = max((at for at in blanks if display_width(line[:at]) <= width), default=blanks[0])
        yield line[:end].rstrip()
        line = hang + line[end:].lstrip()
    yield line


def format_columns(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Sequence[str] = (),
    indent: int = 0,
    plain: bool = False,
) -> list[Line]:
    """A table, of which no cell is ever folded; a row with one cell is a heading inside it.

    A column that is empty in all rows is left out; those named in `right` are aligned there.
    Where `plain`, a row is a sentence, each cell after the name of its column.
    """
    rows = list(rows)
    full = [row for row in rows if len(row) == len(head)]
    kept = [n for n, _ in enumerate(head) if any(row[n] for row in full)]
    widths = {n: max(display_width(row[n]) for row in [head, *full]) for n in kept}

    def laid(row: Sequence[str]) -> str:
        if len(row) < len(head):
            return f"{row[0]}:" if plain else row[0]
        if plain:
            said = (f"{head[n]} {row[n].strip()}".strip() for n in kept if row[n].strip())
            return ", ".join(said)
        shown = (pad(row[n], widths[n], right=head[n] in right) for n in kept)
        return " " * indent + "  ".join(shown).rstrip()

    title = [bold(laid(head))] if any(map(str.strip, head)) and not plain else []
    return [*title, *map(laid, rows)]
