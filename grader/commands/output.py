"""The only module that writes to the terminal.

Results are written to standard output, everything else to standard error. If the reader closes the
pipe (`drill list | head -1`), the command ends silently with the status that a shell gives a
program killed by SIGPIPE. Only a terminal gets styles; NO_COLOR, TERM=dumb and `--color never` turn
off all escape sequences. A document that is longer than the screen is shown in a pager.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size, which
from typing import TYPE_CHECKING, Any, TextIO

from grader.model.errors import UsageError
from grader.reports import text_layout
from grader.reports.text_layout import escape_text

if TYPE_CHECKING:
    from grader.reports.blocks import Block

MAX_WIDTH = 120  # columns; a wider line or table is harder to read
MIN_LONG_COLUMN = 30  # a table's `long` column below this width makes it drop `spare` columns
EXIT_PIPE_CLOSED = 141
ERASE_LINE = "\r\x1b[K"
_PAGER_FAILED = {126, 127}  # statuses of a shell that cannot start a program


@dataclass(slots=True)
class Style:
    """The style of the output, from the options and the environment."""

    plain: bool = False  # one fact per line, for a screen reader
    paging: bool = True
    color: str = "auto"  # or always, never
    has_status: bool = False  # whether standard error shows a status line
    show_step: Callable[[str], None] | None = None  # where steps go, if not to the status line
    document: dict[str, Any] | None = None  # in `drill mcp`: the JSON result; the page is written


style: Style = Style()  # of the running command


class PipeClosedError(Exception):
    """The reader of the output is gone; not an OSError, which typer would swallow."""


def prepare() -> None:
    """Make both streams escape a character that their encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def configure(*, plain: bool, paging: bool, color: str) -> None:
    """Set the style from the options of the command line and DRILL_PLAIN."""
    if color not in {"auto", "always", "never"}:
        raise UsageError(f"--color: expected auto, always or never, found {color}")
    style.plain = plain or os.environ.get("DRILL_PLAIN", "") not in {"", "0"}
    style.paging = paging
    style.color = color


def width() -> int:
    """Return the columns of the terminal, from 20 to `MAX_WIDTH`; 80 if there is no terminal."""
    return max(20, min(get_terminal_size().columns, MAX_WIDTH))


def rows() -> int:
    """Return the rows of the terminal, less one for the prompt; 23 if there is no terminal."""
    return get_terminal_size().lines - 1


def text_width() -> int:
    """Return the columns of prose: those of the terminal, from 30 to 80."""
    return max(text_layout.NARROWEST, min(width(), text_layout.WIDEST))


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def can_show(text: str) -> bool:
    """Return True if standard output can encode a text."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    return text.encode(encoding, "replace").decode(encoding) == text


def is_dialog() -> bool:
    """Return True if a person can be asked: all three streams are a terminal."""
    return all(map(_is_terminal, (sys.stdin, sys.stdout, sys.stderr)))


def can_redraw() -> bool:
    """Return True if a person is at a terminal that can be redrawn, and `--plain` is not given."""
    return is_dialog() and not style.plain and os.environ.get("TERM", "dumb") != "dumb"


def confirm(question: str) -> bool:
    """Ask a yes-or-no question on standard error; an empty answer means no."""
    import typer

    flush()  # it removes the status line
    return bool(typer.confirm(question, default=False, err=True))


def ask(prompt: str) -> str:
    """Ask on standard output and return the typed line; EOFError if there is none.

    A line that is not typed at a terminal is shown as if it were typed.
    """
    is_typed = _is_terminal(sys.stdin) and _is_terminal(sys.stdout)
    if is_typed:
        with suppress(ImportError):
            import readline  # noqa: F401 - it lets a person edit the line
    with suppress(AttributeError, io.UnsupportedOperation):  # not a file, or it was read before
        sys.stdin.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    write("" if is_typed else prompt, end="")
    try:
        if sys.stdin is None:  # closed by the caller
            raise EOFError
        line = input(escape_text(prompt) if is_typed else "")
    except (EOFError, KeyboardInterrupt):
        write()  # the next output begins on a new line
        raise
    if not is_typed:
        write(line)
    return line


def write(text: str = "", end: str = "\n") -> None:
    """Write one or more lines to standard output, with control characters escaped."""
    _put(sys.stdout, escape_text(text) + end)


def show_page(
    blocks: Iterable[Block],
    *,
    commands: Sequence[str] = (),
    rows: int | None = None,
    paged: bool = False,
    markdown: bool = False,
) -> None:
    """Write a page and the commands to type next; with `--plain`, one fact per line.

    The page is shortened to `rows` if it is given.  `paged`: use a pager if the terminal has too
    few rows.  `markdown`: write Markdown, except to a terminal or with `--plain`.
    """
    from grader.reports.blocks import (
        BlankLine,
        Commands,
        render_markdown,
        render_terminal,
        render_text,
    )

    if commands:
        blocks = [*blocks, BlankLine(), Commands(tuple(commands))]
    if style.plain:
        _put(sys.stdout, escape_text(render_text(blocks, aloud=True)))
    elif markdown and not _is_terminal(sys.stdout):
        _put(sys.stdout, render_markdown(blocks))
    else:
        write_lines(render_terminal(list(blocks), width(), rows=rows), paged=paged)


def write_lines(content: Iterable[text_layout.Line], *, paged: bool = False) -> None:
    """Write lines; `paged`: in a pager if the terminal has too few rows."""
    has_styles = _writes_styles()
    lines = list(content)
    text = "".join(f"{_format_line(line, styles=has_styles).rstrip(' ')}\n" for line in lines)
    if not (paged and _needs_pager(lines) and _show_in_pager(text)):
        _put(sys.stdout, text)


def _needs_pager(lines: Iterable[text_layout.Line]) -> bool:
    """Return True if lines go to a terminal with too few rows, and no option forbids a pager."""
    if not style.paging or style.plain or not _is_terminal(sys.stdout):
        return False
    return text_layout.count_rows(lines, get_terminal_size().columns) > rows()


def _writes_styles() -> bool:
    """Return True if standard output gets escape sequences, such as colors.

    The first of these that is set decides: `--color`, `--plain`, NO_COLOR, TERM=dumb, FORCE_COLOR.
    If none is set, a terminal gets them.
    """
    if style.color != "auto" or style.plain:
        return style.color == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR") or _is_terminal(sys.stdout))


class _Captured(io.StringIO):
    def isatty(self) -> bool:
        return True


@contextmanager
def capture_output() -> Iterator[io.StringIO]:
    """Yield a buffer that gets the output to both streams, with styles and without a pager."""
    paging = style.paging
    style.paging = False
    try:
        with redirect_stdout(_Captured()) as text, redirect_stderr(text):
            yield text
    finally:
        style.paging = paging


def send(text: str) -> None:
    """Write control sequences and captured text to the terminal, even during a capture."""
    _put(sys.__stdout__, text)


def write_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, long: str, spare: Sequence[str] = ()
) -> None:
    """Write a table that fits the window: texts in the column named `long` are cut with "...".

    Columns named in `spare` are left out one by one, until the long column is `MIN_LONG_COLUMN`
    wide or as wide as its longest text.  With `--plain` each row is a sentence, and whole.
    """
    rows = list(rows)
    if style.plain:
        write_lines(text_layout.table_sentences(head, rows))
        return
    full_rows = [row for row in rows if len(row) == len(head)]
    widths = {
        name: max(map(text_layout.display_width, (name, *cells)))
        for name, *cells in zip(head, *full_rows, strict=True)
        if any(cells) or name == long
    }

    def room() -> int:
        others = sum(widths[name] + 2 for name in widths if name != long)
        return max(width(), text_layout.NARROWEST) - others

    for name in spare:
        if room() < min(widths[long], MIN_LONG_COLUMN):
            widths.pop(name, None)
    widths[long] = max(min(room(), widths[long]), 8)

    def fit(row: Sequence[str]) -> Sequence[str]:
        if len(row) < len(head):
            return row
        cells = zip(head, row, strict=True)
        return [text_layout.truncate(cell, widths[name]) for name, cell in cells if name in widths]

    lines = text_layout.format_columns(
        fit(head), [fit(row) for row in rows], right=("no.", "try", "min")
    )
    write_lines(lines, paged=True)


def _format_line(line: text_layout.Line, *, styles: bool) -> str:
    spans = [(line, "")] if isinstance(line, str) else line
    texts = []
    for text, sgr in spans:
        escaped = escape_text(text)
        if styles and sgr and text:
            escaped = f"\x1b[{sgr}m{escaped}\x1b[0m"
        texts.append(escaped)
    return "".join(texts)


def write_next_steps(*commands: str, after: str = "") -> None:
    """Write the commands to type next, below the text `after` if there is one."""
    lines = text_layout.next_step_lines(commands, text_width())
    write_lines([after, *lines] if after else lines)


def _show_in_pager(text: str) -> bool:
    """Show a text in a pager; return False if there is none or it cannot be started."""
    pager = os.environ.get("PAGER", "less -FRX" if which("less") else "")
    if not pager.strip():
        return False
    import subprocess

    environment = {"LESS": "FRX", **os.environ}  # if PAGER is only `less`
    shell = ["/bin/sh", "-c", pager]  # as git and man do
    with interrupts_ignored():  # the pager handles Ctrl-C
        ended = subprocess.run(shell, input=text, encoding="utf-8", env=environment, check=False)
    return ended.returncode not in _PAGER_FAILED


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Ignore Ctrl-C in this process during a `with` block."""
    import signal

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def write_json(*, format: int = 1, indent: int | None = 2, **content: object) -> None:
    """Write one JSON document: the version of its `format`, then `content`, with paths as text."""
    import json

    content = {"format": format, **content}
    write(json.dumps(content, indent=indent, allow_nan=False, default=os.fspath))


def emit_json(json: bool, **content: Any) -> bool:  # noqa: ANN401 - what JSON takes
    """Write a result as JSON if `json`, and return True if no page is needed.

    In `drill mcp` keep the result in `style.document` instead and return False, as an assistant
    gets the page, too.
    """
    if style.document is not None:
        style.document = {"format": 1, **content}
        return False
    if json:
        write_json(**content)
    return json


def warn(message: str, hint: str = "", excerpt: Sequence[str] = ()) -> None:
    """Write a warning or an error, then lines of the file that it is about, then what to do."""
    info(f"drill: {message}")
    for line in excerpt:
        info(f"       {line}")
    if len(hint) + 4 > text_width() and _is_terminal(sys.stderr):
        if hint.startswith("Next: "):  # commands are never folded
            hint = hint.replace(text_layout.GAP_TEXT, "\n          ")
        else:
            hint = "\n    ".join(text_layout.wrap_words(hint, text_width() - 4))
    if hint:
        info(f"    {hint}")


def info(text: str) -> None:
    """Write to standard error: folded between words on a terminal, otherwise one line.

    A line that begins with blanks is a command and never folded.
    """
    text = escape_text(text)
    if _is_terminal(sys.stderr) and "\n" not in text and not text.startswith(" "):
        text = "\n".join(text_layout.wrap_words(text, text_width(), indent="    "))
    with suppress(PipeClosedError, UsageError):
        _put(sys.stderr, text + "\n")


@contextmanager
def show_status() -> Iterator[Callable[..., None]]:
    """Yield the function that shows a step of a long command: "grading, 7 of 19 checks".

    It draws the status line, which is erased at the end; without a terminal it does nothing.  In
    `drill mcp` it passes the step to the assistant.
    """
    if style.show_step:
        yield style.show_step
        return
    is_erasable = os.environ.get("TERM", "") not in {"dumb", "unknown", ""}
    if not (is_erasable and _is_terminal(sys.stderr)):
        yield lambda *_: None
        return
    try:
        yield draw_status
    finally:
        draw_status("")


def draw_status(text: str, above: str = "") -> None:
    """Replace the status line by `text`; an empty text erases it.

    `above` is a line to print before it, which stays.  A terminal that is gone is not a fault.
    """
    style.has_status = False
    line_above = f"{escape_text(above)}\n" if above else ""
    with suppress(PipeClosedError, UsageError):
        _put(sys.stderr, f"{ERASE_LINE}{line_above}{escape_text(text)[: width() - 1]}")
    style.has_status = bool(text)


def flush() -> None:
    """Erase the status line and flush standard output; PipeClosedError if its reader is gone."""
    _put(sys.stdout, "")


def _put(stream: TextIO | None, text: str) -> None:
    if style.has_status:
        draw_status("")
    if stream is None:  # closed by the caller: `drill list >&-`
        return
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        discard(stream)
        raise PipeClosedError from None
    except OSError as fault:
        discard(stream)
        raise UsageError(f"the output cannot be written: {fault.strerror}") from fault


def discard(stream: TextIO) -> None:
    """Redirect a stream to the null device, where Python's flush at exit does not fail."""
    with suppress(OSError, ValueError), Path(os.devnull).open("wb") as nothing:
        os.dup2(nothing.fileno(), stream.fileno())
