"""Blocks of pages, and laws that hold for every renderer."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from grader.reports import text_layout
from grader.reports.blocks import (
    FACT_SEPARATOR,
    BlankLine,
    Block,
    CodeBlock,
    Commands,
    Figure,
    Heading,
    Item,
    OmissionNote,
    Paragraph,
    ShorterForm,
    ShrinkableBlocks,
    Table,
    from_markdown,
    render_html,
    render_markdown,
    render_terminal,
    render_text,
)

HOSTILE = "\x1b[2J\u202e<script>alert(1)</script> **bold** [a](http://b)"
PAGE: tuple[Block, ...] = (
    Heading("Two rows", "part 1 of 3", "two-rows"),
    Paragraph(f"submission.py{FACT_SEPARATOR}try 1", "FAIL ", text_layout.REVERSE, hang=6),
    BlankLine(),
    Paragraph("It gives `a b` in (2, 3). " + "word " * 20, "Idea:", hang=4),
    Item("the first of two", "1"),
    Item("the second", "2"),
    CodeBlock(("x = 1", "    y = -2")),
    Figure(lambda width: [f"    {'#' * (width // 20)}"], ("x is -2 +-1",)),
    Table(("name", "yours", "none"), (("y", "-3", ""),), ("yours",)),
    OmissionNote("drill grade --full"),
    BlankLine(),
    Commands(("drill hint", "drill case one")),
)


def lines(blocks: tuple[Block, ...], width: int = 60, rows: int | None = None) -> list[str]:
    return [text_layout.without_styles(line) for line in render_terminal(blocks, width, rows=rows)]


def test_a_page_on_a_terminal() -> None:
    assert lines(PAGE) == [
        "two-rows  Two rows                               part 1 of 3",
        "FAIL  submission.py   try 1",
        "",
        "Idea: It gives `a b` in (2, 3). word word word word word",
        "    word word word word word word word word word word word",
        "    word word word word",
        "1 the first of two",
        "2 the second",
        "    x = 1",
        "        y = -2",
        "    ###",
        "name  yours",
        "y        -3",
        "",
        "Next: drill hint   drill case one",
    ]
    assert render_terminal(PAGE, 60)[1] == (
        ("", ""),
        ("FAIL ", "7"),
        (" submission.py   try 1", ""),
    )


def test_the_rest_of_a_long_comment_is_a_comment_too() -> None:
    code = CodeBlock(("x = 1", f"    # {'four ' * 12}", "#  short"), 2, "python")
    begin = "      # four four four four four four"
    assert lines((code,), 40) == ["  x = 1", begin, begin, "  #  short"]
    assert lines((CodeBlock(code.lines, 2),), 40)[2].startswith("          four")


def test_a_page_read_aloud() -> None:
    assert render_text(PAGE[:2] + PAGE[6:], aloud=True).splitlines() == [
        "two-rows, Two rows, part 1 of 3",
        "FAIL submission.py, try 1",
        "x = 1",
        "y = -2",
        "x is minus 2 plus or minus 1",
        "name y, yours minus 3",
        "Next: drill hint",
        "Next: drill case one",
    ]


def test_a_page_as_html() -> None:
    page = render_html(PAGE)
    assert '<h2>two-rows Two rows <span class="soft">part 1 of 3</span></h2>' in page
    assert "<strong>Idea:</strong> It gives <code>a b</code> in (2, 3)." in page
    assert "<ul>\n<li>1 the first of two</li>\n<li>2 the second</li>\n</ul>\n" in page
    assert "<pre>x = 1\n    y = -2</pre>\n<pre>####</pre>" in page
    assert "<tr><td>y</td><td>-3</td><td></td></tr>" in page
    assert "Next" not in page


def test_a_page_as_markdown() -> None:
    page = render_markdown(PAGE)
    assert page.startswith(
        "## Two rows\n\n`two-rows`: part 1 of 3\n\n**FAIL** submission.py   try 1"
    )
    assert "\n\n**Idea:** It gives `a b` in (2, 3). word" in page
    assert "\n\n1. the first of two\n2. the second\n\n```text\nx = 1\n    y = -2\n```" in page
    assert "| name | yours | none |\n| --- | --- | --- |\n| y | -3 |  |" in page


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lr * decay at w_out[0]: 0 < p & p < 1, {a} = |g| x^2!", None),
        ("x @ w, [[1, 2]], -=, `a` - b, -3 and h_(k-1)", None),
        ("2.5e9 bytes > 1", None),
        ("-= writes", "\\-= writes"),
        ("2**30 and (y - t)**2, m *= b; for + and *, `2**3`",
         "`2**30` and `(y - t)**2`, m `*=` b; for + and `*`, `2**3`"),
        ("1. one", "1\\. one"),
        ("- one", "\\- one"),
        ("# one #", "\\# one \\#"),
        ("> one", "\\> one"),
        ("[a]: b", "\\[a]: b"),
        ("[a](b) ![a](b)", "[a\\](b) ![a\\](b)"),
        ("*a* _b_ __c ~~d~~ $e$ \\", "\\*a* \\_b_ \\_\\_c \\~\\~d~~ \\$e\\$ \\\\"),
        ("<b> </b> <!-- &lt; {{ a {% b", "\\<b> \\</b> \\<!-- \\&lt; \\{\\{ a \\{\\% b"),
        ("http://a.b www.c d@e", "http&#58;//a.b www&#46;c d&#64;e"),
    ],
)  # fmt: skip
def test_only_what_would_be_markup_is_escaped(text: str, expected: str | None) -> None:
    markdown = render_markdown([Paragraph(text)])
    assert markdown == f"{expected or text}\n"
    (paragraph, inline, _) = MarkdownIt("commonmark").enable("strikethrough").parse(markdown)
    assert paragraph.type == "paragraph_open"
    kinds = {child.type for child in inline.children or ()}
    assert kinds <= {"text", "text_special", "code_inline"}


def test_a_bar_divides_no_cell() -> None:
    assert "| a \\| b |" in render_markdown([Table(("x",), (("a | b",),))])


@pytest.mark.parametrize(
    "block",
    [
        Heading(HOSTILE, HOSTILE, HOSTILE),
        Paragraph(HOSTILE, HOSTILE),
        Item(HOSTILE, HOSTILE),
        CodeBlock((HOSTILE,)),
        Figure(lambda _: [HOSTILE], (HOSTILE,)),
        Table((HOSTILE,), ((HOSTILE,),)),
    ],
)
def test_nothing_in_a_text_acts(block: Block) -> None:
    page = render_html([block])
    assert "<script" not in page
    assert "\x1b" not in page + render_markdown([block]) + render_text([block])
    assert "\u202e" not in page + render_markdown([block]) + render_text([block])
    if not isinstance(block, Figure):  # who draws one makes its texts inert
        assert "\x1b" not in "".join(lines((block,)))
    if not isinstance(block, Figure | CodeBlock):
        outside = re.sub("`[^`]*`", "", render_markdown([block]))
        assert " <" not in outside
        assert "[a](" not in outside


def shrinking(words: int) -> tuple[Block, ...]:
    """Return a page with a paragraph of `words` words that has shorter forms."""
    much = Paragraph("word " * words)
    shorter = (
        ShorterForm(2, (Paragraph("word " * 12),), ("the rest",)),
        ShorterForm(3, lost=("everything",)),
    )
    gap = ShrinkableBlocks((BlankLine(),), (ShorterForm(1),))
    top = (
        Paragraph("FAIL"),
        gap,
        ShrinkableBlocks((much,), shorter),
        OmissionNote("drill grade --full"),
    )
    return (*top, gap, Commands(("drill hint",)))


def test_a_page_that_fits_is_whole_and_one_that_does_not_says_what_it_leaves_out() -> None:
    whole = lines(shrinking(12), rows=6)
    assert whole == ["FAIL", "", "word " * 11 + "word", "", "Next: drill hint"]
    assert lines(shrinking(24), rows=4) == [
        "FAIL", "word " * 11 + "word", "word " * 11 + "word", "Next: drill hint",
    ]  # fmt: skip
    assert lines(shrinking(99), rows=4) == [
        "FAIL", "word " * 11 + "word", "drill grade --full shows the rest.", "Next: drill hint",
    ]  # fmt: skip
    assert lines(shrinking(99), rows=3)[1] == "drill grade --full shows everything."
    assert "shows" not in render_html(shrinking(99))
    # One that cannot shrink so far keeps its end.
    blocks = (Paragraph("word " * 99), *shrinking(9))
    assert lines(blocks, rows=4)[1:] == [
        "word " * 11 + "word", "drill grade --full shows the rest.", "Next: drill hint",
    ]  # fmt: skip


def test_markdown_is_read_as_blocks() -> None:
    text = "One\ntwo.\n\n- first\n  more\n- second\n\n    code\n      in\n\n```python\nx\n```\n"
    assert [block for block in from_markdown(text) if not isinstance(block, BlankLine)] == [
        Paragraph("One two."),
        Item("first more"),
        Item("second"),
        CodeBlock(("code", "  in")),
        CodeBlock(("x",), language="python"),
    ]
    assert lines(tuple(from_markdown(text)))[2:4] == ["- first more", "- second"]
