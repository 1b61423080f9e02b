"""A question's own words on a terminal: paragraphs, lists and code, a small part of Markdown.

A bank is trusted more than a submission, and is still shown inert: it may come from anybody.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from grader.reports.inert import ascii_only, inert
from grader.reports.page import Line, hanging, paragraph, wrapped
from grader.reports.palette import FOCUS

_ITEM = re.compile(r"^\s*([-*]|\d+[.)])\s+(.*)$")
_FENCE = re.compile(r"^\s*```")
_SPANS = re.compile(r"`[^`\n]+`")
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text of one kind."""

    kind: Literal["paragraph", "item", "code"]
    lines: tuple[str, ...]
    mark: str = ""  # of an item: "-" or "1."


class Code:
    """Python source: highlighted where there is color, plain where there is none."""

    def __init__(self, source: str, width: int, *, indent: int) -> None:
        """Lay the source out; color waits until it is known what the output can do."""
        lines = [inert(line, _LONGEST).rstrip() for line in source.strip("\n").split("\n")]
        self.lines = [part for line in lines for part in _folded(line, width - indent)]
        self.indent = " " * indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines, highlighted as a whole: a string may run over several."""
        text = Text("\n".join(self.lines))
        if console.color_system is not None and not options.ascii_only:
            from rich.syntax import Syntax  # pygments is slow to import

            text = Syntax("", "python", theme="ansi_dark").highlight(text.plain)
            text.rstrip()
        for line in text.split("\n", allow_blank=True):
            shown = Text(self.indent).append_text(line) if line.plain else Text()
            if options.ascii_only:
                shown = Text(ascii_only(shown.plain))
            shown.no_wrap, shown.overflow = True, "ignore"
            yield shown


def prose_lines(text: str, width: int, *, indent: int = 0) -> list[Line]:
    """The text laid out for `width` columns, a blank line between blocks that are not items."""
    lines: list[Line] = []
    before: Block | None = None
    for block in blocks(text):
        if before is not None and not (before.kind == block.kind == "item"):
            lines.append(Text())
        before = block
        if block.kind == "code":
            lines.append(Code("\n".join(block.lines), width, indent=indent + 4))
        elif block.kind == "item":
            lead = ((f"{block.mark} ", ""),)
            lines += _coded(hanging(lead, " ".join(block.lines), width, indent=indent))
        else:
            lines += _coded(paragraph(" ".join(block.lines), width, indent=indent))
    return lines


def blocks(text: str) -> Iterator[Block]:
    """The paragraphs, list items and code blocks of a text, in order."""
    lines = text.expandtabs(4).strip("\n").split("\n")
    n = 0
    while n < len(lines):
        line = lines[n]
        if not line.strip():
            n += 1
        elif _FENCE.match(line):
            end = next((i for i in range(n + 1, len(lines)) if _FENCE.match(lines[i])), len(lines))
            yield Block("code", tuple(_dedented(lines[n + 1 : end])))
            n = end + 1
        elif line.startswith("    "):
            end = _while(lines, n, lambda s: s.startswith("    ") or not s.strip())
            yield Block("code", tuple(_dedented(lines[n:end])))
            n = end
        elif item := _ITEM.match(line):
            end = _while(lines, n + 1, lambda s: bool(s.strip()) and not _begins(s))
            rest = [s.strip() for s in lines[n + 1 : end]]
            yield Block("item", (item[2].strip(), *rest), mark=item[1])
            n = end
        else:
            end = _while(lines, n + 1, lambda s: bool(s.strip()) and not _begins(s))
            yield Block("paragraph", tuple(s.strip() for s in lines[n:end]))
            n = end


def _begins(line: str) -> bool:
    """Whether a line begins a block of its own inside a paragraph."""
    return bool(_FENCE.match(line) or _ITEM.match(line))


def _while(lines: list[str], start: int, belongs: Callable[[str], bool]) -> int:
    n = start
    while n < len(lines) and belongs(lines[n]):
        n += 1
    return n


def _dedented(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    common = min((len(s) - len(s.lstrip()) for s in lines if s.strip()), default=0)
    return [s[common:].rstrip() for s in lines]


def _folded(line: str, width: int) -> list[str]:
    """A line of code that fits; a comment goes on as a comment, below the code it follows."""
    if cell_len(line) <= width:
        return [line]
    code, mark, comment = line.partition("#") if line.lstrip().startswith("#") else _split(line)
    start = len(line) - len(line.lstrip())
    if not mark:
        lead = " " * (start + 8)
        first, *more = wrapped(line.lstrip(), width - start - 8)
        return [" " * start + first, *(lead + s for s in more)]
    if code.strip():
        return [code.rstrip(), *_folded(" " * (start + 4) + mark + comment, width)]
    hang = len(comment) - len(comment.lstrip()) + 2
    first, *more = wrapped(comment.strip(), width - start - 1 - hang)
    lead = " " * start + "#"
    return [f"{lead}{' ' * (hang - 2)}{first}", *(f"{lead}{' ' * hang}{s}" for s in more)]


def _split(line: str) -> tuple[str, str, str]:
    """A line of code and the comment set off behind it by two spaces."""
    code, gap, comment = line.partition("  #")
    return code, gap.strip(), comment


def _coded(lines: list[Text]) -> list[Text]:
    """Color what stands in backticks; the backticks stay, so that color is not needed."""
    for line in lines:
        line.highlight_regex(_SPANS, FOCUS)
    return lines
