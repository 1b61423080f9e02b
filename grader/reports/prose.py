"""A question's own words on a terminal: paragraphs, lists and code, a small part of Markdown.

A bank is trusted more than a submission, and is still shown inert: it may come from anybody.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.text import Text

from grader.reports.inert import inert
from grader.reports.page import hanging, paragraph, wrapped

_ITEM = re.compile(r"^\s*([-*]|\d+[.)])\s+(.*)$")
_FENCE = re.compile(r"^\s*```")
_END = re.compile(r"\s*(?:$|```|(?:[-*]|\d+[.)])\s)")  # of a paragraph or an item
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text of one kind."""

    kind: Literal["paragraph", "item", "code"]
    lines: tuple[str, ...]
    mark: str = ""  # of an item: "-" or "1."


def code(source: str, width: int, *, indent: int) -> Text:
    """Python source as it is, but for lines that are too long."""
    kept = [inert(line, _LONGEST).rstrip() for line in source.strip("\n").split("\n")]
    lines = [" " * indent + part for line in kept for part in _folded(line, width - indent)]
    return Text("\n".join(line.rstrip() for line in lines))


def prose_lines(text: str, width: int, *, indent: int = 0) -> list[Text]:
    """The text laid out for `width` columns, a blank line between blocks that are not items."""
    lines: list[Text] = []
    before: Block | None = None
    for block in blocks(text):
        if before is not None and not (before.kind == block.kind == "item"):
            lines.append(Text())
        before = block
        if block.kind == "code":
            lines.append(code("\n".join(block.lines), width, indent=indent + 4))
        elif block.kind == "item":
            lead = ((f"{block.mark} ", ""),)
            lines += hanging(lead, " ".join(block.lines), width, indent=indent)
        else:
            lines += paragraph(" ".join(block.lines), width, indent=indent)
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


def _folded(line: str, width: int) -> list[str]:
    """A line of code that fits; a comment goes on as a comment, below the code it follows."""
    if cell_len(line) <= width:
        return [line]
    code = line.lstrip()
    start = " " * (len(line) - len(code))
    before, mark, comment = code.partition("  #")  # set off from code by two spaces
    if mark and before:
        return [start + before.rstrip(), *_folded(f"{start}    #{comment}", width)]
    lead = start + ("#   " if code.startswith("#") else " " * 8)
    first, *more = wrapped(code, width - len(lead))
    return [start + first, *(lead + part for part in more)]
