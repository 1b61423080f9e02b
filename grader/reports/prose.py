"""A question's own words on a terminal: paragraphs, lists and code, a small part of Markdown."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from grader.reports import sheet

_ITEM = re.compile(r"^\s*([-*]|\d+[.)])\s+(.*)$")
_FENCE = re.compile(r"^\s*```")
_END = re.compile(r"\s*(?:$|```|(?:[-*]|\d+[.)])\s)")  # of a paragraph or an item


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text of one kind."""

    kind: Literal["paragraph", "item", "code"]
    lines: tuple[str, ...]
    mark: str = ""  # of an item: "-" or "1."


def prose(text: str, width: int, *, indent: int = 0) -> list[str]:
    """The text on lines of at most `width` columns, a blank one between blocks but items.

    Code stays as it is written, however wide.
    """
    lines: list[str] = []
    margin, before = " " * indent, None
    for block in blocks(text):
        if before is not None and not (before.kind == block.kind == "item"):
            lines.append("")
        before = block
        if block.kind == "code":
            lines += [f"{margin}    {line}".rstrip() for line in block.lines]
        else:
            lead = f"{margin}{block.mark} " if block.mark else margin
            lines += sheet.wrapped(" ".join(block.lines), width, first=lead)
    return lines


def blocks(text: str) -> Iterator[Block]:
    """The paragraphs, list items and code blocks of a text, in order."""
    lines = text.expandtabs(4).strip("\n").split("\n")
    while lines:
        line = lines.pop(0)
        if _FENCE.match(line):
            yield _code(_taken(lines, lambda s: not _FENCE.match(s)))
            del lines[:1]
        elif line.startswith("    ") and line.strip():
            yield _code([line, *_taken(lines, lambda s: s.startswith("    ") or not s.strip())])
        elif line.strip():
            more = _taken(lines, lambda s: not _END.match(s))
            if item := _ITEM.match(line):
                yield Block("item", (item[2].strip(), *map(str.strip, more)), mark=item[1])
            else:
                yield Block("paragraph", (line.strip(), *map(str.strip, more)))


def _taken(lines: list[str], belongs: Callable[[str], bool]) -> list[str]:
    """The first lines, as far as they belong to a block; they are gone from the others."""
    taken = list(itertools.takewhile(belongs, lines))
    del lines[: len(taken)]
    return taken


def _code(lines: list[str]) -> Block:
    text = textwrap.dedent("\n".join(lines)).rstrip()
    return Block("code", tuple(line.rstrip() for line in text.split("\n")))
