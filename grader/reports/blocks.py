"""What a page says, as blocks: written once, shown on a terminal, read aloud, as HTML, as Markdown.

A page is a list of blocks from top to bottom.  A page that has to fit a screen says of some blocks
what may stand in their place (`ShrinkableBlocks`): what matters least has the lowest rank and goes first,
and `OmissionNote` names what is gone.  Whatever the texts hold, nothing in them acts on a terminal or is
read as markup: every renderer sees to that.
"""

from __future__ import annotations

import html
import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from grader.model.number_format import join_words
from grader.reports import text_layout
from grader.reports.text_layout import BOLD, REVERSE, Line, display_width, escape_line

FACT_SEPARATOR = (
    "\xa0\xa0 "  # facts on one line: three cells apart, or a comma where they are read aloud
)
_LONGEST = 4000  # characters of one text
_ITEM = re.compile(r"^\s*([-*]|\d+[.)])\s+(.*)$")
_FENCE = re.compile(r"^\s*```(\w*)")
_END = re.compile(r"\s*(?:$|```|(?:[-*]|\d+[.)])\s)")  # of a paragraph or an item
_CODE = re.compile(r"`([^`\n]+)`")
_MINUS = re.compile(r"(?<![\w.)\]])-(?=[\d.])")
# What Markdown would read as markup where it stands: what can open emphasis, and no `a * b`, a_b,
# x[0] or a < b. 2**30 and *= are written as code, which needs no backslash.
_MARKUP = re.compile(
    r"[\\`$]|(?<!\*)\*+(?![*\s])|(?<!~)~+(?![~\s])|(?<!\w)_+|\](?=\()|<(?=[A-Za-z/!?])"
    r"|&(?=#?\w+;)|\{[{%]+|(?<=\s)#+$"
)
_BEGINS = re.compile(r"^(?:[-+=:*~]+(?=\s|$)|#+(?=\s|$)|>|\[(?=[^]]*\]:)|\d+(?=[.)](?:\s|$)))")
_STARS = re.compile(
    r"(?:(?:\b\w+|\([^()`]*\))\*\*-?\w+|(?<!\S)\*(?:=(?!\S)|(?=[,.;]))|(?:\b\w+\.|\b)__\w+__)"
    r"(?=[^`]*(?:`[^`]*`[^`]*)*$)"
)
ESCAPED_BAR = r"\|"  # in a cell
_LINKS = re.compile(r"(?i)(?<=www)\.|:(?=//)|@(?=\w)")


class Heading(NamedTuple):
    """A title below a blank line, and facts at its right or, without room, below it."""

    title: str
    facts: str = ""
    name: str = ""  # in bold before a title that is then not
    level: int = 2  # of HTML and Markdown


class Paragraph(NamedTuple):
    """Words that flow, maybe behind a word or two in bold."""

    text: str
    lead: str = ""
    style: str = BOLD  # of the lead
    indent: int = 0  # cells before every line
    hang: int = 0  # more cells before all lines but the first


class Item(NamedTuple):
    """One item of a list; its further lines stand below the first word."""

    text: str
    mark: str = "-"  # or "7", of a numbered list
    indent: int = 0
    inner: bool = False  # of a list in a list, for Markdown


class CodeBlock(NamedTuple):
    """Lines in which every space counts."""

    lines: Sequence[str]
    indent: int = 4
    language: str = "text"  # for Markdown


class Figure(NamedTuple):
    """What is set in columns: drawn for a width, or a fact a line where it is read aloud."""

    draw: Callable[[int], Iterable[Line]]
    spoken: Sequence[str] = ()


class Picture(NamedTuple):
    """What HTML has in the place of some blocks, drawn of the words and the HTML that they are."""

    draw: Callable[[str, str], str]
    blocks: Sequence[Block]


class Table(NamedTuple):
    """Rows of as many cells as the head has; a column that is empty in all rows is left out."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[str] = ()  # the columns that are aligned at their right
    indent: int = 0
    marked: frozenset[int] = frozenset()  # rows that stand out where there is color


class Commands(NamedTuple):
    """What to type next, which no file has; a command is never broken, shortened or escaped."""

    commands: Sequence[str]
    first: str = ""  # what to do before the first of them


@dataclass(frozen=True, slots=True)
class BlankLine:
    """A blank line on a terminal; everywhere else blocks stand apart anyway."""


class OmissionNote(NamedTuple):
    """Where a page says what it leaves out, and which command shows it."""

    command: str


class ShorterForm(NamedTuple):
    """What stands in the place of some blocks from a rank on, and what is then lost."""

    rank: int
    blocks: Sequence[Block] = ()
    lost: Sequence[str] = ()


class ShrinkableBlocks(NamedTuple):
    """Blocks that may be shown shorter where a page has to fit; the ranks rise."""

    blocks: Sequence[Block]
    shorter_forms: Sequence[ShorterForm]


Block: TypeAlias = (
    Heading | Paragraph | Item | CodeBlock | Figure | Picture | Table | Commands | BlankLine | OmissionNote
    | ShrinkableBlocks
)  # fmt: skip
Blocks: TypeAlias = Iterator[Block]


def from_markdown(text: str, *, indent: int = 0, gap: Block = BlankLine()) -> Blocks:
    """The paragraphs, list items and code of a text in a small part of Markdown, gaps between."""
    lines = text.expandtabs(4).strip("\n").split("\n")
    before: Block | None = None
    while lines:
        line = lines.pop(0)
        block: Block | None = None
        fence = _FENCE.match(line)
        if fence or (line.startswith("    ") and line.strip()):
            if fence:
                code = _taken(lines, lambda s: not _FENCE.match(s))
                del lines[:1]
            else:
                code = [line, *_taken(lines, lambda s: s.startswith("    ") or not s.strip())]
            text = textwrap.dedent("\n".join(code)).rstrip()
            language = (fence and fence[1]) or "text"
            block = CodeBlock(tuple(text.split("\n")), indent + 4, language)
        elif line.strip():
            item = _ITEM.match(line)
            begin, *more = item[2] if item else line, *_taken(lines, lambda s: not _END.match(s))
            words = " ".join(map(str.strip, [begin, *more]))
            block = Item(words, item[1], indent) if item else Paragraph(words, indent=indent)
        if block is not None:
            if before is not None and not (isinstance(before, Item) and isinstance(block, Item)):
                yield gap
            before = block
            yield block


def _taken(lines: list[str], belongs: Callable[[str], bool]) -> list[str]:
    """The first lines, as far as they belong to a block; they are gone from the others."""
    taken = list(itertools.takewhile(belongs, lines))
    del lines[: len(taken)]
    return taken


def _at(blocks: Iterable[Block], rank: int, lost: list[str], *, pictures: bool = False) -> Blocks:
    """The blocks of a page of a rank, -1 for all; what they leave out is added to `lost`."""
    for block in blocks:
        if isinstance(block, ShrinkableBlocks):
            shown = next((one for one in reversed(block.shorter_forms) if one.rank <= rank), None)
            lost += shown.lost if shown else ()
            yield from _at(shown.blocks if shown else block.blocks, rank, lost, pictures=pictures)
        elif isinstance(block, Picture) and not pictures:
            yield from _at(block.blocks, rank, lost)
        else:
            yield block


def render_terminal(
    blocks: Sequence[Block], width: int, *, rows: int | None = None
) -> tuple[Line, ...]:
    """Blocks as lines for a window of `width` columns, as short as it takes to have `rows`."""
    window = width
    width = max(width, text_layout.NARROWEST)
    ranks = sorted(
        {s.rank for b in blocks if isinstance(b, ShrinkableBlocks) for s in b.shorter_forms}
    )
    for rank in [-1] if rows is None else [0, *ranks]:
        lost: list[str] = []
        shown = list(_at(blocks, rank, lost))
        lines = _laid(shown, width, lost)
        if rows is None or _rows(lines, window) <= rows:
            return tuple(lines)
    # Even the shortest page is too long: its end and its head stay, what is between is cut.
    ends = [at for at, b in enumerate(blocks) if next(_at([b], -1, []), None) == BlankLine()]
    end = blocks[max(ends, default=len(blocks)) :]
    command = next((block.command for block in blocks if isinstance(block, OmissionNote)), "")
    ending: list[Line] = []
    if command:
        ending += text_layout.wrap_words(
            "shows the rest.", width, first=f"{command} ", indent="    "
        )
    ending += _laid(_at(end, rank, []), width, [])
    while len(lines) > 1 and _rows([*lines, *ending], window) > (rows or 0):
        lines.pop()
    return (*lines, *ending)


def _rows(lines: Iterable[Line], width: int) -> int:
    """Lines of a terminal: what is longer than one is wrapped there."""
    return sum(
        max(1, -(-display_width(text_layout.without_styles(line).rstrip()) // width))
        for line in lines
    )


def _laid(blocks: Iterable[Block], width: int, lost: Sequence[str]) -> list[Line]:
    """The lines of blocks, without blank ones at either end or two of them in a row."""
    lines: list[Line] = []
    for block in blocks:
        for line in _drawn(block, width, lost):
            if text_layout.without_styles(line).strip():
                lines.append(line)
            elif lines and lines[-1]:
                lines.append("")
    return lines[:-1] if lines and not lines[-1] else lines


def _drawn(block: Block, width: int, lost: Sequence[str]) -> Iterator[Line]:
    across = min(width, text_layout.WIDEST)
    match block:
        case Heading(title, facts, name):
            yield ""
            title, facts, name = map(escape_line, (title, facts, name))
            styled = text_layout.bold(name, f"  {title}") if name else text_layout.bold(title)
            gap = across - display_width(text_layout.without_styles(styled)) - display_width(facts)
            if facts and gap >= len(text_layout.GAP_TEXT):
                yield (*styled, (f"{' ' * gap}{facts}", ""))
                return
            first = f"{name}  " * bool(name)
            begin, *more = text_layout.wrap_words(title, across, first=first, indent="    ")
            begin = begin.removeprefix(first.rstrip())
            yield ((name, BOLD), (begin, "")) if name else ((begin, BOLD),)
            yield from more
            yield from (
                text_layout.wrap_words(facts, across, first="    ", indent="    ") if facts else ()
            )
        case Paragraph(text, lead, style, indent, hang):
            blanks = " " * indent
            lead = escape_line(lead, _LONGEST)
            first = blanks + f"{lead} " * bool(lead)
            begin, *more = text_layout.wrap_words(
                _clean(text), across, first=first, indent=" " * (indent + hang)
            )
            begin = begin.removeprefix(blanks + lead) if lead else begin
            yield ((blanks, ""), (lead, style), (begin, "")) if lead else begin
            yield from more
        case Item(text, mark, indent):
            yield from text_layout.wrap_words(
                _clean(text), across, first=f"{' ' * indent}{escape_line(mark)} "
            )
        case CodeBlock(written, indent, language):
            for line in written:
                text = f"{' ' * indent}{escape_line(line)}".rstrip()
                comment = re.match(r" *# ", text) if language == "python" else None
                if comment and display_width(text) > across >= 2 * display_width(comment[0]):
                    mark = comment[0]
                    yield from text_layout.wrap_words(
                        text[len(mark) :], across, first=mark, indent=mark
                    )
                else:
                    yield from text_layout.fold_code(text, across)
        case Figure():
            yield from block.draw(width)
        case Table():
            head, *rows = [[*map(escape_line, row)] for row in (block.head, *block.rows)]
            drawn = text_layout.format_columns(head, rows, right=block.right, indent=block.indent)
            if max(map(display_width, map(text_layout.without_styles, drawn)), default=0) <= width:
                yield from drawn
                return
            begin = " " * block.indent
            for row in text_layout.format_columns(
                head, rows, plain=True
            ):  # a sentence can be broken
                yield from text_layout.wrap_words(
                    text_layout.without_styles(row), across, first=begin, indent=f"{begin}  "
                )
        case Commands(commands, first):
            yield from text_layout.next_step_lines(commands, across, first)
        case OmissionNote(command) if lost:
            told = f"shows {join_words(dict.fromkeys(lost))}."
            yield from text_layout.wrap_words(told, across, first=f"{command} ", indent="    ")
        case BlankLine():
            yield ""


def _clean(text: str) -> str:
    """One line of words, in which nothing acts."""
    return escape_line(re.sub(r"[ \t\r\n]+", " ", text).strip(" "), _LONGEST)


def render_text(blocks: Iterable[Block], *, aloud: bool = False) -> str:
    """Blocks as lines of any length, without columns, bars and marks; `aloud`: signs in words."""
    lines = []
    for block in _at(blocks, -1, []):
        for line in _said(block):
            text = _clean(line)
            if aloud and not isinstance(block, Commands | CodeBlock):
                text = _MINUS.sub("minus ", text.replace("+-", "plus or minus "))
            lines.append(f"{text}\n")
    return "".join(lines).replace("\xa0", " ")


def _said(block: Block) -> Iterable[str]:
    match block:
        case Heading(title, facts, name):
            return [", ".join(filter(None, (name, title, facts)))]
        case Paragraph(text, lead):
            return [f"{lead} {text}".strip().replace(FACT_SEPARATOR, ", ")]
        case Item(text, mark):
            return [f"{mark.strip()} {text}"]
        case CodeBlock(lines):
            return filter(str.strip, lines)
        case Figure():
            return block.spoken
        case Table(head, rows):
            return map(
                text_layout.without_styles, text_layout.format_columns(head, rows, plain=True)
            )
        case Commands([command, *more], first):
            said = [f"{first} {command}".strip(), *more]
            return [f"Next: {command}" for command in said]
    return []


def render_html(blocks: Iterable[Block]) -> str:
    """Blocks as HTML for the body of a page, every text of theirs escaped."""
    parts = []
    shown = _at(blocks, -1, [], pictures=True)
    for kind, group in itertools.groupby(shown, lambda b: isinstance(b, Item)):
        items = "".join(map(_tagged, group))
        parts.append(f"<ul>\n{items}</ul>\n" if kind else items)
    return "".join(parts).replace("\xa0", " ")


def _tagged(block: Block) -> str:
    match block:
        case Heading(title, facts, name, level):
            facts = f' <span class="soft">{_html(facts)}</span>' if facts else ""
            return f"<h{level}>{_html(f'{name} {title}')}{facts}</h{level}>\n"
        case Paragraph(text, lead, style):
            of = ' class="reverse"' if style == REVERSE else ""
            lead = f"<strong{of}>{_html(lead)}</strong> " if lead else ""
            return f"<p>{lead}{_html(text.replace(FACT_SEPARATOR, ', '))}</p>\n"
        case Item(text, mark):
            mark = mark.strip()
            shown = "" if mark in {"-", "*"} else mark if mark.isdigit() else _as_code(mark)
            return f"<li>{f'{shown} ' if shown else ''}{_html(text)}</li>\n"
        case CodeBlock() | Figure():
            return f"<pre>{html.escape(chr(10).join(_set(block)))}</pre>\n"
        case Picture(draw, blocks):
            return draw(render_text(blocks), render_html(blocks))
        case Table():
            head = "".join(f"<th>{_html(cell)}</th>" for cell in block.head)
            body = ""
            for at, row in enumerate(block.rows):
                of = ' class="marked"' if at in block.marked else ""
                body += f"<tr{of}>{''.join(f'<td>{_html(cell)}</td>' for cell in row)}</tr>\n"
            return f"<table>\n<tr>{head}</tr>\n{body}</table>\n"
    return ""


def _as_code(text: str) -> str:
    return f"<code>{html.escape(escape_line(text, _LONGEST))}</code>"


def _html(text: str) -> str:
    """A text in which nothing is markup but code in backticks."""
    pieces = enumerate(_CODE.split(_clean(text)))
    return "".join(_as_code(piece) if at % 2 else html.escape(piece) for at, piece in pieces)


def _set(block: CodeBlock | Figure) -> list[str]:
    """What is set in columns, from the margin."""
    drawn = block.lines if isinstance(block, CodeBlock) else block.draw(text_layout.WIDEST)
    lines = [escape_line(text_layout.without_styles(line).rstrip()) for line in drawn]
    return textwrap.dedent("\n".join(lines)).split("\n")


def render_markdown(blocks: Iterable[Block], *, written: bool = False) -> str:
    """Blocks as Markdown, in which nothing is markup but code, or what was `written` as such."""
    text = ""
    before = False
    for block in _at(blocks, -1, []):
        if said := _marked(block, written=written):
            item = isinstance(block, Item)
            text += ("\n" if before and item else "\n\n") * bool(text) + said
            before = item
    return f"{text}\n".replace("\xa0", " ") if text else ""


def _marked(block: Block, *, written: bool) -> str:
    def flowing(text: str, first: str) -> str:
        if not written:
            return first + _markdown(text)
        return "\n".join(text_layout.wrap_words(_clean(text), text_layout.WIDEST, first=first))

    match block:
        case Heading(title, facts, name, level):
            facts = _markdown(facts)
            facts = (
                f"\n\n`{escape_line(name)}`: {facts}" if name else f" ({facts})" if facts else ""
            )
            return f"{'#' * level} {_markdown(title)}{facts}"
        case Paragraph(text, lead):
            return flowing(text, f"**{_markdown(lead)}** " if lead else "")
        case Item(text, mark):
            mark = escape_line(mark.strip()).replace("`", "'")
            if block.inner:
                return flowing(text, f"  - `{mark}` ")
            if mark.removesuffix(".").isdigit():
                return flowing(text, f"{mark.removesuffix('.')}. ")
            return flowing(text, "- " if mark in {"-", "*"} else f"- `{mark}` ")
        case CodeBlock() | Figure():
            lines = _set(block)
            ticks = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
            fence = "`" * max(3, 1 + ticks)
            language = block.language if isinstance(block, CodeBlock) else "text"
            return "\n".join([f"{fence}{language}", *lines, fence])
        case Table():
            every = (map(_markdown, row) for row in (block.head, *block.rows))
            head, *rows = (
                f"| {' | '.join(c.replace('|', ESCAPED_BAR) for c in row)} |" for row in every
            )
            return "\n".join([head, f"|{' --- |' * len(block.head)}", *rows])
    return ""


def _markdown(text: str) -> str:
    pieces = enumerate(_CODE.split(_STARS.sub(r"`\g<0>`", _clean(text))))
    said = "".join(f"`{piece}`" if at % 2 else _escaped(piece) for at, piece in pieces).strip()
    return _BEGINS.sub(lambda m: f"{m[0]}\\" if m[0].isdigit() else f"\\{m[0]}", said)


def _escaped(text: str) -> str:
    text = _MARKUP.sub(lambda m: "".join(f"\\{sign}" for sign in m[0]), text)
    return _LINKS.sub(lambda m: f"&#{ord(m[0])};", text)
