r"""Text from a submission or a bank, made harmless to a terminal.

A submission chooses its exception messages, its source lines and what it prints.  Shown
raw, these could move the cursor, recolor a FAIL or turn a line of text around.  Every
character that acts instead of being seen is written as its escape (\x1b), and very long
text is cut with a notice.
"""

from __future__ import annotations

import re
import unicodedata

LINE_LIMIT = 400  # characters of one line: five lines of a terminal, more than any honest one
_ACTING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # control, format (bidi), surrogate, separators
_MARKS = frozenset({"Mn", "Me"})
_MOST_MARKS = 2  # combining marks on one letter; no script in use stacks more
_TAB = "    "
_ACTS = re.compile(r"[^\x20-\x7e\n\t]")


def inert(text: str, limit: int = LINE_LIMIT) -> str:
    r"""One line of text with nothing in it that acts on a terminal.

    Args:
        text: anything at all; line breaks become a visible \n, tabs four spaces.
        limit: characters of `text` to keep.

    Returns:
        Printable text; what was cut is announced at its end.
    """
    kept = text[:limit]
    if not (kept.isascii() and kept.isprintable()):
        kept = _escaped(kept)
    cut = len(text) - limit
    return f"{kept} ... ({cut:,} more characters)" if cut > 0 else kept


def inert_lines(text: str, most: int, limit: int = LINE_LIMIT) -> tuple[list[str], int]:
    """The last `most` lines of a text, each inert, and how many came before them."""
    lines = [line.removesuffix("\r") for line in text.strip("\r\n").split("\n")]
    dropped = max(0, len(lines) - most)
    return [inert(line.rstrip(), limit) for line in lines[dropped:]], dropped


def harmless(text: str) -> str:
    """Text of many lines with nothing in it that acts on a terminal; tabs stay as they are."""
    if _ACTS.search(text) is None:
        return text
    return "".join(c if c in "\n\t" else _escaped(c) for c in text)


def _escaped(text: str) -> str:
    out: list[str] = []
    marks = 0
    for char in text:
        category = unicodedata.category(char)
        marks = marks + 1 if category in _MARKS else 0
        if char == "\t":
            out.append(_TAB)
        elif category in _ACTING or marks > _MOST_MARKS:
            out.append(char.encode("unicode_escape").decode("ascii"))
        else:
            out.append(char)
    return "".join(out)
