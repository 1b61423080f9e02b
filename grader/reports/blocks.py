"""Blocks of a page, which can be shown on a terminal, read aloud, or written as HTML or Markdown.

A page is a list of blocks from top to bottom.  A page that has to fit a screen gives some blocks
shorter forms (`ShrinkableBlocks`).  Each form has a rank: forms of rank 0 are always used on such a
page, and those of higher ranks one rank after the other until it fits.  `OmissionNote` names the
parts left out.  Every renderer escapes texts: they cannot act on a terminal or become markup.
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
from grader.reports.text_layout import (
    BOLD,
    GAP_TEXT,
    NARROWEST,
    REVERSE,
    WIDEST,
    Line,
    bold,
    count_rows,
    display_width,
    escape_line,
    fold_code,
    format_columns,
    line_width,
    next_step_lines,
    table_sentences,
    without_styles,
    wrap_words,
)

# Between facts on one line: three columns, or a comma if they are read aloud.
FACT_SEPARATOR = "\xa0\xa0 "
_MAX_TEXT = 4000  # characters
_BULLETS = {"-", "*"}
_ITEM = re.compile(r"^\s*([-*]|\d+[.)])\s+(.*)$")
_FENCE = re.compile(r"^\s*```(\w*)")
_PARAGRAPH_END = re.compile(r"\s*(?:$|```|(?:[-*]|\d+[.)])\s)")  # a line after a paragraph or item
_CODE = re.compile(r"`([^`\n]+)`")
_MINUS = re.compile(r"(?<![\w.)\]])-(?=[\d.])")
# Text that Markdown would read as markup: signs that can open emphasis, but not a * b, a_b, x[0]
# or a < b. 2**30 and *= are written as code, which needs no backslash.
_MARKUP = re.compile(
    r"[\\`$]|(?<!\*)\*+(?![*\s])|(?<!~)~+(?![~\s])|(?<!\w)_+|\](?=\()|<(?=[A-Za-z/!?])"
    r"|&(?=#?\w+;)|\{[{%]+|(?<=\s)#+$"
)
_BEGINS = re.compile(r"^(?:[-+=:*~]+(?=\s|$)|#+(?=\s|$)|>|\[(?=[^]]*\]:)|\d+(?=[.)](?:\s|$)))")
_STARS = re.compile(
    r"(?:(?:\b\w+|\([^()`]*\))\*\*-?\w+|(?<!\S)\*(?:=(?!\S)|(?=[,.;]))|(?:\b\w+\.|\b)__\w+__)"
    r"(?=[^`]*(?:`[^`]*`[^`]*)*$)"
)
ESCAPED_BAR = r"\|"  # in a cell of a Markdown table
_LINKS = re.compile(r"(?i)(?<=www)\.|:(?=//)|@(?=\w)")


class Heading(NamedTuple):
    """A title below a blank line, and facts such as "25 min": at its right, if there is room."""

    title: str
    facts: str = ""
    name: str = ""  # shown in bold before the title, which is then not bold
    level: int = 2  # of HTML and Markdown


class Paragraph(NamedTuple):
    """Words that flow, with an optional lead in bold."""

    text: str
    lead: str = ""
    style: str = BOLD  # of the lead
    indent: int = 0  # columns before every line
    hang: int = 0  # more columns before all lines but the first


class Item(NamedTuple):
    """One item of a list; its further lines stand below the first word."""

    text: str
    mark: str = "-"  # or "7", of a numbered list
    indent: int = 0
    inner: bool = False  # in Markdown, it belongs to a list inside an item


class CodeBlock(NamedTuple):
    """Lines in which every space counts."""

    lines: Sequence[str]
    indent: int = 4
    language: str = "text"  # for Markdown


class Figure(NamedTuple):
    """Lines that `draw` lays out for a width, and `spoken` sentences to read aloud instead."""

    draw: Callable[[int], Iterable[Line]]
    spoken: Sequence[str] = ()


class Picture(NamedTuple):
    """Blocks, and a picture for HTML only; `draw` returns it from the blocks' text and HTML."""

    draw: Callable[[str, str], str]
    blocks: Sequence[Block]


class Table(NamedTuple):
    """A table; on a terminal, a column whose cells are all empty is left out with its head."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[str] = ()  # names of the columns that are right-aligned
    indent: int = 0
    marked: frozenset[int] = frozenset()  # rows that stand out in HTML, counted from 0


class Commands(NamedTuple):
    """Commands to type next, which are never broken or shortened; HTML and Markdown omit them."""

    commands: Sequence[str]
    first: str = ""  # what to do before the first of them


@dataclass(frozen=True, slots=True)
class BlankLine:
    """A blank line on a terminal; elsewhere blocks are set apart anyway."""


class OmissionNote(NamedTuple):
    """Place of a sentence on parts left out: "drill grade --full shows the whole example."."""

    command: str


class ShorterForm(NamedTuple):
    """Blocks that replace longer ones from a rank on, and the names of the parts that they lack."""

    rank: int  # 0: on every page that must fit
    blocks: Sequence[Block] = ()
    lost: Sequence[str] = ()  # for the `OmissionNote`, such as "the whole example"


class ShrinkableBlocks(NamedTuple):
    """Blocks for a page without a limit, and shorter forms by rising rank for one that must fit."""

    blocks: Sequence[Block]
    shorter_forms: Sequence[ShorterForm]


Block: TypeAlias = (
    Heading | Paragraph | Item | CodeBlock | Figure | Picture | Table | Commands
    | BlankLine | OmissionNote | ShrinkableBlocks
)  # fmt: skip
Blocks: TypeAlias = Iterator[Block]


def from_markdown(text: str, *, indent: int = 0, gap: Block = BlankLine()) -> Blocks:
    """Yield the paragraphs, list items and code of a text: other Markdown is plain text here.

    A `gap` comes between any two of them, except between two items.  `indent` is in columns.
    """
    lines = text.expandtabs(4).strip("\n").split("\n")
    previous: Block | None = None
    while lines:
        if not lines[0].strip():
            del lines[0]
            continue
        block = _take_block(lines, indent)
        if previous is not None and not (isinstance(previous, Item) and isinstance(block, Item)):
            yield gap
        previous = block
        yield block


def _take_block(lines: list[str], indent: int) -> Block:
    """Remove the lines of the first block from `lines`, and return the block."""
    line = lines.pop(0)
    if fence := _FENCE.match(line):
        code = _take_while(lines, lambda line: not _FENCE.match(line))
        del lines[:1]  # the closing fence
        return _code_block(code, indent, fence[1] or "text")
    if line.startswith("    "):
        code = _take_while(lines, lambda line: line.startswith("    ") or not line.strip())
        return _code_block([line, *code], indent, "text")
    more = _take_while(lines, lambda line: not _PARAGRAPH_END.match(line))
    item = _ITEM.match(line)
    first = item[2] if item else line
    words = " ".join(part.strip() for part in [first, *more])
    return Item(words, item[1], indent) if item else Paragraph(words, indent=indent)


def _take_while(lines: list[str], belongs: Callable[[str], bool]) -> list[str]:
    """Remove and return the first lines, up to one that does not belong to the block."""
    block_lines = list(itertools.takewhile(belongs, lines))
    del lines[: len(block_lines)]
    return block_lines


def _code_block(code: Sequence[str], indent: int, language: str) -> CodeBlock:
    text = textwrap.dedent("\n".join(code)).rstrip()
    return CodeBlock(tuple(text.split("\n")), indent + 4, language)


def _expand(
    blocks: Iterable[Block],
    rank: int = -1,
    lost: list[str] | None = None,
    *,
    pictures: bool = False,
) -> Blocks:
    """Yield the blocks of a page, with each shrinkable one in its shortest form up to `rank`.

    If `rank` is -1, all are in full.  The names of the parts left out are added to `lost`.  A
    picture is kept if `pictures`, and is otherwise replaced by its blocks.
    """
    for block in blocks:
        if isinstance(block, ShrinkableBlocks):
            content = block.blocks
            fitting_forms = [form for form in block.shorter_forms if form.rank <= rank]
            if fitting_forms:
                content = fitting_forms[-1].blocks
                if lost is not None:
                    lost += fitting_forms[-1].lost
            yield from _expand(content, rank, lost, pictures=pictures)
        elif isinstance(block, Picture) and not pictures:
            yield from _expand(block.blocks, rank, lost)
        else:
            yield block


# -- terminal -------------------------------------------------------------------------------------


def render_terminal(blocks: Sequence[Block], width: int, *, rows: int | None = None) -> list[Line]:
    """Lay out blocks for a window of `width` columns, and shorten them to `rows` if it is given.

    If even the shortest forms do not fit, the middle is cut.
    """
    page_width = max(width, NARROWEST)
    if rows is None:
        return _layout(_expand(blocks), page_width)
    ranks = {0}
    for block in blocks:
        if isinstance(block, ShrinkableBlocks):
            ranks.update(form.rank for form in block.shorter_forms)
    for rank in sorted(ranks):
        lost: list[str] = []
        shortened = list(_expand(blocks, rank, lost))
        lines = _layout(shortened, page_width, lost)
        if count_rows(lines, width) <= rows:
            return lines

    # Even the shortest page is too long: keep its beginning and its ending, and cut the middle.
    ending = _ending(blocks, page_width, rank)
    while len(lines) > 1 and count_rows([*lines, *ending], width) > rows:
        lines.pop()
    return lines + ending


def _ending(blocks: Sequence[Block], width: int, rank: int) -> list[Line]:
    """Return the ending of a page that is cut: the command that shows all, and the last section."""
    ending: list[Line] = []
    for block in blocks:
        if isinstance(block, OmissionNote) and block.command:
            first = f"{block.command} "
            ending += wrap_words("shows the rest.", width, first=first, indent="    ")
            break
    start = len(blocks)
    for index, block in enumerate(blocks):
        if isinstance(next(_expand([block]), None), BlankLine):
            start = index
    return ending + _layout(_expand(blocks[start:], rank), width)


def _layout(blocks: Iterable[Block], width: int, lost: Sequence[str] = ()) -> list[Line]:
    """Return the lines of blocks: none blank at either end, and no two blank ones in a row."""
    lines: list[Line] = []
    for block in blocks:
        for line in _block_lines(block, width, lost):
            if without_styles(line).strip():
                lines.append(line)
            elif lines and lines[-1]:
                lines.append("")
    if lines and not lines[-1]:
        lines.pop()
    return lines


def _block_lines(block: Block, width: int, lost: Sequence[str]) -> Iterable[Line]:
    text_width = min(width, WIDEST)
    match block:
        case Heading():
            return _heading_lines(block, text_width)
        case Paragraph():
            return _paragraph_lines(block, text_width)
        case Item(text, mark, indent):
            first = f"{' ' * indent}{escape_line(mark)} "
            return wrap_words(_clean(text), text_width, first=first)
        case CodeBlock():
            return _code_lines(block, text_width)
        case Figure(draw):
            return draw(width)
        case Table():
            return _table_lines(block, width)
        case Commands(commands, first):
            return next_step_lines(commands, text_width, first)
        case OmissionNote(command) if lost:
            text = f"shows {join_words(dict.fromkeys(lost))}."
            return wrap_words(text, text_width, first=f"{command} ", indent="    ")
        case BlankLine():
            return [""]
    return []


def _heading_lines(heading: Heading, width: int) -> Iterator[Line]:
    title, facts, name = map(escape_line, (heading.title, heading.facts, heading.name))
    styled = bold(name, f"  {title}") if name else bold(title)
    yield ""
    gap = width - line_width(styled) - display_width(facts)
    if facts and gap >= len(GAP_TEXT):
        yield (*styled, (f"{' ' * gap}{facts}", ""))
        return
    first = f"{name}  " if name else ""
    begin, *more = wrap_words(title, width, first=first, indent="    ")
    begin = begin.removeprefix(first.rstrip())
    yield bold(name, begin) if name else ((begin, BOLD),)
    yield from more
    if facts:
        yield from wrap_words(facts, width, first="    ", indent="    ")


def _paragraph_lines(paragraph: Paragraph, width: int) -> Iterator[Line]:
    blanks = " " * paragraph.indent
    hanging_indent = blanks + " " * paragraph.hang
    lead = escape_line(paragraph.lead, _MAX_TEXT)
    first = f"{blanks}{lead} " if lead else blanks
    begin, *more = wrap_words(_clean(paragraph.text), width, first=first, indent=hanging_indent)
    if lead:
        yield ((blanks, ""), (lead, paragraph.style), (begin.removeprefix(blanks + lead), ""))
    else:
        yield begin
    yield from more


def _code_lines(block: CodeBlock, width: int) -> Iterator[Line]:
    for line in block.lines:
        text = f"{' ' * block.indent}{escape_line(line)}".rstrip()
        comment = re.match(r" *# ", text) if block.language == "python" else None
        if comment and display_width(text) > width >= 2 * display_width(comment[0]):
            words = text.removeprefix(comment[0])
            yield from wrap_words(words, width, first=comment[0], indent=comment[0])
        else:
            yield from fold_code(text, width)


def _table_lines(table: Table, width: int) -> Iterator[Line]:
    """Yield a table in columns, or if these are too wide one sentence for each row."""
    head, *rows = [[escape_line(cell) for cell in row] for row in (table.head, *table.rows)]
    lines = format_columns(head, rows, right=table.right, indent=table.indent)
    if all(line_width(line) <= width for line in lines):
        yield from lines
        return
    first = " " * table.indent
    for sentence in table_sentences(head, rows):
        yield from wrap_words(sentence, min(width, WIDEST), first=first, indent=f"{first}  ")


def _clean(text: str) -> str:
    """Return a text on one line, with single spaces and with nothing that acts on a terminal."""
    return escape_line(re.sub(r"[ \t\r\n]+", " ", text).strip(" "), _MAX_TEXT)


# -- plain text -----------------------------------------------------------------------------------


def render_text(blocks: Iterable[Block], *, aloud: bool = False) -> str:
    """Return blocks as plain lines of any length; a row of a table becomes a sentence.

    If `aloud`, signs become words: "minus 3", "plus or minus 0.1".
    """
    lines = []
    for block in _expand(blocks):
        for line in _plain_lines(block):
            text = _clean(line)
            if aloud and not isinstance(block, Commands | CodeBlock):
                text = _MINUS.sub("minus ", text.replace("+-", "plus or minus "))
            lines.append(f"{text}\n")
    return "".join(lines).replace("\xa0", " ")


def _plain_lines(block: Block) -> Iterable[str]:
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
            return table_sentences(head, rows)
        case Commands([command, *more], first):
            commands = [f"{first} {command}".strip(), *more]
            return [f"Next: {command}" for command in commands]
    return []


# -- HTML -----------------------------------------------------------------------------------------


def render_html(blocks: Iterable[Block]) -> str:
    """Return blocks as HTML for the body of a page, with all text escaped."""
    parts = []
    expanded = _expand(blocks, pictures=True)
    for are_items, group in itertools.groupby(expanded, lambda block: isinstance(block, Item)):
        content = "".join(map(_block_to_html, group))
        parts.append(f"<ul>\n{content}</ul>\n" if are_items else content)
    return "".join(parts).replace("\xa0", " ")


def _block_to_html(block: Block) -> str:
    match block:
        case Heading(title, facts, name, level):
            soft = f' <span class="soft">{_text_to_html(facts)}</span>' if facts else ""
            return f"<h{level}>{_text_to_html(f'{name} {title}')}{soft}</h{level}>\n"
        case Paragraph(text, lead, style):
            attribute = ' class="reverse"' if style == REVERSE else ""
            strong = f"<strong{attribute}>{_text_to_html(lead)}</strong> " if lead else ""
            return f"<p>{strong}{_text_to_html(text.replace(FACT_SEPARATOR, ', '))}</p>\n"
        case Item(text, mark):
            mark = mark.strip()
            label = ""
            if mark.isdigit():
                label = f"{mark} "
            elif mark not in _BULLETS:
                label = f"{_code_to_html(mark)} "
            return f"<li>{label}{_text_to_html(text)}</li>\n"
        case CodeBlock() | Figure():
            return f"<pre>{html.escape(chr(10).join(_preformatted(block)))}</pre>\n"
        case Picture(draw, blocks):
            return draw(render_text(blocks), render_html(blocks))
        case Table():
            html_rows = [_html_row("th", block.head)]
            for index, row in enumerate(block.rows):
                attribute = ' class="marked"' if index in block.marked else ""
                html_rows.append(_html_row("td", row, attribute))
            return f"<table>\n{''.join(html_rows)}</table>\n"
    return ""


def _html_row(tag: str, cells: Sequence[str], attribute: str = "") -> str:
    content = "".join(f"<{tag}>{_text_to_html(cell)}</{tag}>" for cell in cells)
    return f"<tr{attribute}>{content}</tr>\n"


def _code_to_html(text: str) -> str:
    return f"<code>{html.escape(escape_line(text, _MAX_TEXT))}</code>"


def _text_to_html(text: str) -> str:
    """Escape a text; code in backticks becomes markup."""
    pieces = _CODE.split(_clean(text))  # every second one is code
    pieces[::2] = map(html.escape, pieces[::2])
    pieces[1::2] = map(_code_to_html, pieces[1::2])
    return "".join(pieces)


def _preformatted(block: CodeBlock | Figure) -> list[str]:
    """Return the lines of code or a figure, without their common indent and without styles."""
    lines = block.lines if isinstance(block, CodeBlock) else block.draw(WIDEST)
    escaped = [escape_line(without_styles(line).rstrip()) for line in lines]
    return textwrap.dedent("\n".join(escaped)).split("\n")


# -- Markdown -------------------------------------------------------------------------------------


def render_markdown(blocks: Iterable[Block], *, written: bool = False) -> str:
    """Return blocks as Markdown; in their texts only code is markup, and other signs are escaped.

    If `written`, paragraphs and items are the Markdown of an author and are not escaped.
    """
    text = ""
    after_item = False
    for block in _expand(blocks):
        markdown = _block_to_markdown(block, written=written)
        if not markdown:
            continue
        is_item = isinstance(block, Item)
        if text:
            text += "\n" if after_item and is_item else "\n\n"
        text += markdown
        after_item = is_item
    return f"{text}\n".replace("\xa0", " ") if text else ""


def _block_to_markdown(block: Block, *, written: bool) -> str:
    def flow(text: str, first: str) -> str:
        if not written:
            return first + _text_to_markdown(text)
        return "\n".join(wrap_words(_clean(text), WIDEST, first=first))

    match block:
        case Heading(title, facts, name, level):
            facts = _text_to_markdown(facts)
            if name:
                facts = f"\n\n`{escape_line(name)}`: {facts}"
            elif facts:
                facts = f" ({facts})"
            return f"{'#' * level} {_text_to_markdown(title)}{facts}"
        case Paragraph(text, lead):
            return flow(text, f"**{_text_to_markdown(lead)}** " if lead else "")
        case Item(text, mark):
            mark = escape_line(mark.strip()).replace("`", "'")
            number = mark.removesuffix(".")
            if block.inner:
                return flow(text, f"  - `{mark}` ")
            if number.isdigit():
                return flow(text, f"{number}. ")
            return flow(text, "- " if mark in _BULLETS else f"- `{mark}` ")
        case CodeBlock() | Figure():
            lines = _preformatted(block)
            backticks = [len(run) for line in lines for run in re.findall("`+", line)]
            fence = "`" * max(3, 1 + max(backticks, default=0))
            language = block.language if isinstance(block, CodeBlock) else "text"
            return "\n".join([f"{fence}{language}", *lines, fence])
        case Table():
            head, *rows = map(_markdown_row, (block.head, *block.rows))
            return "\n".join([head, f"|{' --- |' * len(block.head)}", *rows])
    return ""


def _markdown_row(row: Sequence[str]) -> str:
    cells = [_text_to_markdown(cell).replace("|", ESCAPED_BAR) for cell in row]
    return f"| {' | '.join(cells)} |"


def _text_to_markdown(text: str) -> str:
    """Escape a text; code in backticks stays code, and formulas such as 2**30 become code."""
    pieces = _CODE.split(_STARS.sub(r"`\g<0>`", _clean(text)))  # every second one is code
    pieces[::2] = map(_escape_markup, pieces[::2])
    pieces[1::2] = [f"`{code}`" for code in pieces[1::2]]
    markdown = "".join(pieces).strip()
    return _BEGINS.sub(lambda m: f"{m[0]}\\" if m[0].isdigit() else f"\\{m[0]}", markdown)


def _escape_markup(text: str) -> str:
    text = _MARKUP.sub(lambda m: "".join(f"\\{sign}" for sign in m[0]), text)
    return _LINKS.sub(lambda m: f"&#{ord(m[0])};", text)
