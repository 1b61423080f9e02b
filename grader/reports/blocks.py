"""What a page says, as blocks: written once, shown on a terminal, read aloud, as HTML, as Markdown.

A page is a list of blocks from top to bottom.  A page that has to fit a screen says of some blocks
what may stand in their place (`Shrinks`): what matters least has the lowest rank and goes first,
and `LeftOut` names what is gone.  Whatever the texts hold, nothing in them acts on a terminal or is
read as markup: every renderer sees to that.
"""

from __future__ import annotations

import html
import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from grader.reports import sheet
from grader.reports.inert import inert
from grader.reports.sheet import BOLD, Line, cells

BETWEEN = "\xa0\xa0 "  # facts on one line: three cells apart, or a comma where they are read aloud
_LONGEST = 4000  # characters of one text
_ITEM = re.compile(r"^\s*([-*]|\d+[.)])\s+(.*)$")
_FENCE = re.compile(r"^\s*```(\w*)")
_END = re.compile(r"\s*(?:$|```|(?:[-*]|\d+[.)])\s)")  # of a paragraph or an item
_CODE = re.compile(r"`([^`\n]+)`")
_MINUS = re.compile(r"(?<![\w.)\]])-(?=[\d.])")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~$&!^])")
_BEGINS = re.compile(r"^(\s*)([-+=:]|\d+(?=[.)]))")
_LINKS = re.compile(r"(?i)(?<=www)\.|:(?=//)|@")


@dataclass(frozen=True, slots=True)
class Heading:
    """A title, and facts at its right; below it where there is no room."""

    title: str
    facts: str = ""
    name: str = ""  # in bold before a title that is then not
    level: int = 2  # of HTML and Markdown


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Words that flow, maybe behind a word or two in bold."""

    text: str
    lead: str = ""
    style: str = BOLD  # of the lead
    indent: int = 0  # cells before every line
    hang: int = 0  # more cells before all lines but the first


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a list; its further lines stand below the first word."""

    text: str
    mark: str = "-"  # or "7", of a numbered list
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Code:
    """Lines in which every space counts."""

    lines: tuple[str, ...]
    indent: int = 4
    language: str = "text"  # for Markdown


@dataclass(frozen=True, slots=True)
class Figure:
    """What is set in columns: drawn for a width, or a fact a line where it is read aloud."""

    draw: Callable[[int], Iterable[Line]]
    spoken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of as many cells as the head has; a column that is empty in all rows is left out."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[str, ...] = ()  # the columns that are aligned at their right
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Commands:
    """What to type next; a command is never broken, shortened or escaped."""

    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """A blank line on a terminal; everywhere else blocks stand apart anyway."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Where a page says what it leaves out, and which command shows it."""

    command: str


@dataclass(frozen=True, slots=True)
class Shorter:
    """What stands in the place of some blocks from a rank on, and what is then lost."""

    rank: int
    blocks: tuple[Block, ...] = ()
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shrinks:
    """Blocks that may be shown shorter where a page has to fit; the ranks rise."""

    blocks: tuple[Block, ...]
    shorter: tuple[Shorter, ...]


Block: TypeAlias = (
    Heading | Paragraph | Item | Code | Figure | Table | Commands | Gap | LeftOut | Shrinks
)


def from_markdown(text: str, *, indent: int = 0, gap: Block = Gap()) -> Iterator[Block]:
    """The paragraphs, list items and code of a text in a small part of Markdown, gaps between."""
    lines = text.expandtabs(4).strip("\n").split("\n")
    before: type[Block] | None = None
    for block in _parsed(lines, indent):
        if before is not None and not before is type(block) is Item:
            yield gap
        before = type(block)
        yield block


def _parsed(lines: list[str], indent: int) -> Iterator[Paragraph | Item | Code]:
    while lines:
        line = lines.pop(0)
        if fence := _FENCE.match(line):
            code = _taken(lines, lambda s: not _FENCE.match(s))
            yield _code(code, indent, fence[1] or "text")
            del lines[:1]
        elif line.startswith("    ") and line.strip():
            more = _taken(lines, lambda s: s.startswith("    ") or not s.strip())
            yield _code([line, *more], indent, "text")
        elif line.strip():
            more = _taken(lines, lambda s: not _END.match(s))
            if item := _ITEM.match(line):
                yield Item(" ".join(map(str.strip, [item[2], *more])), item[1], indent)
            else:
                yield Paragraph(" ".join(map(str.strip, [line, *more])), indent=indent)


def _taken(lines: list[str], belongs: Callable[[str], bool]) -> list[str]:
    """The first lines, as far as they belong to a block; they are gone from the others."""
    taken = list(itertools.takewhile(belongs, lines))
    del lines[: len(taken)]
    return taken


def _code(lines: list[str], indent: int, language: str) -> Code:
    text = textwrap.dedent("\n".join(lines)).rstrip()
    return Code(tuple(text.split("\n")), indent + 4, language)


# Fitting a page


def _at(blocks: Iterable[Block], rank: int, lost: list[str]) -> Iterator[Block]:
    """The blocks of a page of a rank; what they leave out is added to `lost`."""
    for block in blocks:
        if not isinstance(block, Shrinks):
            yield block
            continue
        shown = next((one for one in reversed(block.shorter) if one.rank <= rank), None)
        lost += shown.lost if shown else ()
        yield from _at(shown.blocks if shown else block.blocks, rank, lost)


def _whole(blocks: Iterable[Block]) -> Iterator[Block]:
    return _at(blocks, -1, [])


def _ranks(blocks: Iterable[Block]) -> list[int]:
    every = (block.shorter for block in blocks if isinstance(block, Shrinks))
    return sorted({one.rank for shorter in every for one in shorter})


# A terminal


def render_terminal(
    blocks: Sequence[Block], width: int, *, rows: int | None = None
) -> tuple[Line, ...]:
    """Blocks as lines for a window of `width` columns, prose within 80 of them.

    Args:
        blocks: of the page.
        width: of the window.
        rows: of the window that the page may have; None: as many as it takes.
    """
    width = max(width, sheet.NARROWEST)
    ranks = [0, *_ranks(blocks)] if rows is not None else [-1]
    for rank in ranks:
        lost: list[str] = []
        shown = list(_at(blocks, rank, lost))
        lines = _laid(shown, width, lost)
        if rows is None or _rows(lines, width) <= rows:
            return lines
    # Even the shortest page is too long: its end stays whole, and what is above it is cut.
    end = max((at for at, block in enumerate(blocks) if _is_gap(block)), default=len(blocks))
    command = next((block.command for block in blocks if isinstance(block, LeftOut)), "")
    ending = list(_laid(list(_at(blocks[end:], rank, [])), width, []))
    ending = [*([f"{command} shows the rest."] if command else []), *ending]
    kept = list(lines)
    while kept and _rows([*kept, *ending], width) > (rows or 0):
        kept.pop()
    return (*kept, *ending)


def _is_gap(block: Block) -> bool:
    return isinstance(block, Gap) or (isinstance(block, Shrinks) and block.blocks == (Gap(),))


def _rows(lines: Iterable[Line], width: int) -> int:
    """Lines of a terminal: what is longer than one is wrapped there."""
    return sum(max(1, -(-cells(sheet.plain(line).rstrip()) // width)) for line in lines)


def _laid(blocks: Iterable[Block], width: int, lost: Sequence[str]) -> tuple[Line, ...]:
    """The lines of blocks, without blank ones at either end or two of them in a row."""
    lines: list[Line] = []
    for block in blocks:
        for line in _drawn(block, width, lost):
            blank = not sheet.plain(line).strip()
            if not blank or (lines and sheet.plain(lines[-1]).strip()):
                lines.append("" if blank else line)
    while lines and not lines[-1]:
        lines.pop()
    return tuple(lines)


def _drawn(block: Block, width: int, lost: Sequence[str]) -> Iterator[Line]:
    across = min(width, sheet.WIDEST)
    match block:
        case Heading():
            yield from _heading(block, across)
        case Paragraph():
            lead = inert(block.lead, _LONGEST)
            first = " " * block.indent + f"{lead} " * bool(lead)
            indent = " " * (block.indent + block.hang)
            begin, *more = sheet.wrapped(_clean(block.text), across, first=first, indent=indent)
            begin = begin.removeprefix(" " * block.indent + lead) if lead else begin
            yield ((" " * block.indent, ""), (lead, block.style), (begin, "")) if lead else begin
            yield from more
        case Item():
            first = " " * block.indent + f"{inert(block.mark)} "
            yield from sheet.wrapped(_clean(block.text), across, first=first)
        case Code():
            yield from (f"{' ' * block.indent}{inert(line)}".rstrip() for line in block.lines)
        case Figure():
            yield from block.draw(width)
        case Table():
            head, *rows = [[*map(inert, row)] for row in (block.head, *block.rows)]
            yield from sheet.columns(head, rows, right=block.right, indent=block.indent)
        case Commands():
            yield from _next(block.commands, across)
        case LeftOut() if lost:
            told = f"shows {sheet.joined(dict.fromkeys(lost))}."
            yield from sheet.wrapped(told, across, first=f"{block.command} ", indent="    ")
        case Gap():
            yield ""
        case LeftOut() | Shrinks():
            pass


def _clean(text: str) -> str:
    """One line of words, in which nothing acts."""
    return inert(re.sub(r"[ \t\r\n]+", " ", text).strip(" "), _LONGEST)


def _heading(block: Heading, width: int) -> Iterator[Line]:
    name, title = inert(block.name), inert(block.title)
    whole = f"{name}  {title}" if name else title
    styled = sheet.bold(name, f"  {title}") if name else sheet.bold(title)
    gap = width - cells(whole) - cells(block.facts)
    if not block.facts:
        yield styled
    elif gap < len(sheet.GAP):
        yield from (styled, f"    {inert(block.facts)}")
    else:
        yield (*styled, (f"{' ' * gap}{inert(block.facts)}", ""))


def _next(commands: Sequence[str], width: int) -> Iterator[Line]:
    """Commands side by side; one that is too long is left to the terminal, so it copies whole."""
    rows: list[str] = []
    for command in commands:
        if rows and cells(rows[-1]) + len(sheet.GAP) + cells(command) <= width - 6:
            rows[-1] += f"{sheet.GAP}{command}"
        else:
            rows.append(command)
    for at, row in enumerate(rows):
        yield f"      {row}" if at else sheet.bold("Next:", f" {row}")


# Text, a fact a line


def render_text(blocks: Iterable[Block], *, aloud: bool = False) -> str:
    """Blocks as lines of any length, without columns, bars and marks.

    Args:
        blocks: of the page.
        aloud: for a screen reader, signs in words.
    """
    lines = []
    for block in _whole(blocks):
        for line in _said(block):
            text = _clean(line)
            if aloud and not isinstance(block, Commands | Code):
                text = _MINUS.sub("minus ", text.replace("+-", "plus or minus "))
            lines.append(f"{text}\n")
    return "".join(lines).replace("\xa0", " ")


def _said(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield ", ".join(filter(None, (block.name, block.title, block.facts)))
        case Paragraph():
            yield f"{block.lead} {block.text}".strip().replace(BETWEEN, ", ")
        case Item():
            yield f"{block.mark.strip()} {block.text}"
        case Code():
            yield from filter(str.strip, block.lines)
        case Figure():
            yield from block.spoken
        case Table():
            yield from map(sheet.plain, sheet.columns(block.head, block.rows, plain=True))
        case Commands():
            yield from (f"Next: {command}" for command in block.commands)
        case _:
            pass


# HTML


def render_html(blocks: Iterable[Block]) -> str:
    """Blocks as HTML for the body of a page, every text of theirs escaped."""
    parts = []
    for kind, group in itertools.groupby(_whole(blocks), lambda b: isinstance(b, Item)):
        items = "".join(map(_tagged, group))
        parts.append(f"<ul>\n{items}</ul>\n" if kind else items)
    return "".join(parts).replace("\xa0", " ")


def _tagged(block: Block) -> str:
    match block:
        case Heading(level=level):
            facts = f' <span class="soft">{_html(block.facts)}</span>' if block.facts else ""
            text = " ".join(filter(None, (block.name, block.title)))
            return f"<h{level}>{_html(text)}{facts}</h{level}>\n"
        case Paragraph():
            lead = f"<strong>{_html(block.lead)}</strong> " if block.lead else ""
            return f"<p>{lead}{_html(block.text)}</p>\n"
        case Item():
            mark = block.mark.strip()
            mark = (
                f"{mark} " if mark.isdigit() else "" if mark in {"-", "*"} else _as_code(mark) + " "
            )
            return f"<li>{mark}{_html(block.text)}</li>\n"
        case Code() | Figure():
            return f"<pre>{html.escape(chr(10).join(_set(block)))}</pre>\n"
        case Table():
            head = "".join(f"<th>{_html(cell)}</th>" for cell in block.head)
            rows = ("".join(f"<td>{_html(cell)}</td>" for cell in row) for row in block.rows)
            body = "".join(f"<tr>{row}</tr>\n" for row in rows)
            return f"<table>\n<tr>{head}</tr>\n{body}</table>\n"
        case Commands() if block.commands:
            return f"<p>Next: {' '.join(map(_as_code, block.commands))}</p>\n"
        case _:
            return ""


def _as_code(text: str) -> str:
    return f"<code>{html.escape(inert(text, _LONGEST))}</code>"


def _html(text: str) -> str:
    """A text in which nothing is markup but code in backticks."""
    return "".join(
        _as_code(piece) if at % 2 else html.escape(piece)
        for at, piece in enumerate(_CODE.split(_clean(text)))
    )


def _set(block: Code | Figure) -> list[str]:
    """What is set in columns, from the margin."""
    drawn = block.lines if isinstance(block, Code) else block.draw(sheet.WIDEST)
    lines = [inert(sheet.plain(line).rstrip()) for line in drawn]
    return textwrap.dedent("\n".join(lines)).split("\n")


# Markdown


def render_markdown(blocks: Iterable[Block], *, written: bool = False) -> str:
    """Blocks as Markdown, in which nothing is markup but code in backticks.

    Args:
        blocks: of the document.
        written: whether their texts are Markdown themselves, which is then kept.
    """
    text, before = "", False
    for block in _whole(blocks):
        if said := _marked(block, written=written):
            item = isinstance(block, Item)
            text += ("\n" if before and item else "\n\n") * bool(text) + said
            before = item
    return f"{text}\n".replace("\xa0", " ") if text else ""


def _marked(block: Block, *, written: bool) -> str:
    def flowing(text: str, first: str = "") -> str:
        if not written:
            return first + _markdown(text)
        return "\n".join(sheet.wrapped(_clean(text), sheet.WIDEST, first=first))

    match block:
        case Heading(level=level):
            if block.name:
                facts = f"\n\n`{inert(block.name)}`: {_markdown(block.facts)}"
            else:
                facts = f" ({_markdown(block.facts)})" if block.facts else ""
            return f"{'#' * level} {_markdown(block.title)}{facts}"
        case Paragraph():
            lead = f"**{_markdown(block.lead)}** " if block.lead else ""
            return flowing(block.text, lead) if lead else flowing(block.text)
        case Item():
            mark = inert(block.mark.strip()).replace("`", "'")
            if mark.removesuffix(".").isdigit():
                return flowing(block.text, f"{mark.removesuffix('.')}. ")
            return flowing(block.text, "- " if mark in {"-", "*"} else f"- `{mark}` ")
        case Code() | Figure():
            lines = _set(block)
            ticks = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
            fence = "`" * max(3, 1 + ticks)
            language = block.language if isinstance(block, Code) else "text"
            return "\n".join([f"{fence}{language}", *lines, fence])
        case Table():
            rows = (block.head, ("---",) * len(block.head), *block.rows)
            return "\n".join(
                f"| {' | '.join(cell if at == 1 else _markdown(cell) for cell in row)} |"
                for at, row in enumerate(rows)
            )
        case Commands() if block.commands:
            return "Next: " + " ".join(f"`{inert(c, _LONGEST)}`" for c in block.commands)
        case _:
            return ""


def _markdown(text: str) -> str:
    pieces = enumerate(_CODE.split(_clean(text)))
    return "".join(f"`{piece}`" if at % 2 else _escaped(piece) for at, piece in pieces).strip()


def _escaped(text: str) -> str:
    text = _MARKUP.sub(r"\\\1", text)
    text = _LINKS.sub(lambda m: f"&#{ord(m[0])};", text)
    begins = _BEGINS.match(text)
    if begins is None:
        return text
    end, mark = begins.end(), begins[2]
    return f"{text[:end]}\\{text[end:]}" if mark.isdigit() else f"{begins[1]}\\{mark}{text[end:]}"
