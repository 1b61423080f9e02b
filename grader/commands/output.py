"""The only module that writes to the terminal.

Results go to standard output, everything about the run itself to standard error. A reader that
closes the pipe (`drill list | head -1`) ends the command silently with the status that a shell
gives a program killed by SIGPIPE. Styles are for terminals; NO_COLOR, TERM=dumb and `--color never`
mean no escape sequence at all. A document that is longer than the screen goes through a pager.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import get_terminal_size, which
from typing import TYPE_CHECKING, Any, TextIO

from grader.model.errors import UsageError
from grader.reports import text_layout
from grader.reports.text_layout import escape_text

if TYPE_CHECKING:
    from grader.reports.blocks import Block

MAX_WIDTH = 120  # beyond this a line of prose or a table is harder to read, not easier
EXIT_PIPE_CLOSED = 141
_LEAST = 30  # columns of a table's longest texts, before other columns are left out
ERASE_LINE = "\r\x1b[K"  # takes a line back


@dataclass(slots=True)
class Style:
    """How a command speaks: what its options and the environment say."""

    plain: bool = False  # one fact a line, for a screen reader
    paging: bool = True
    color: str = "auto"  # or always, never
    has_status: bool = False  # whether a status line stands on standard error


@dataclass(slots=True)
class Recording(Style):
    """A style of which nothing is written: what is said is kept, as in a window of 80 columns."""

    doing: Callable[[str], None] = lambda _step: None  # called with each step of a long command
    document: dict[str, Any] = field(default_factory=dict)
    page: str = ""  # what a person would read
    remarks: str = ""  # of that, what goes to standard error


style: Style = Style()  # of the command that is carried out


class PipeClosedError(Exception):
    """Our reader has gone; not an OSError, which typer would swallow."""


def prepare() -> None:
    """Begin a command: let no character be more than the terminal can take."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def configure(*, plain: bool, paging: bool, color: str) -> None:
    """Take what the command line says of the style."""
    if color not in {"auto", "always", "never"}:
        raise UsageError(f"--color: expected auto, always or never, found {color}")
    style.plain = plain or os.environ.get("DRILL_PLAIN", "") not in {"", "0"}
    style.paging = paging
    style.color = color


@contextmanager
def record_output(doing: Callable[[str], None], *, plain: bool) -> Iterator[Recording]:
    """Keep what is said meanwhile, both the document and the page."""
    global style
    before = style
    style = Recording(plain, color="never", doing=doing)
    try:
        yield style
    finally:
        style = before


def _window() -> os.terminal_size:
    size = (80, 24)
    return os.terminal_size(size) if isinstance(style, Recording) else get_terminal_size(size)


def width() -> int:
    """Return the columns to fill: the terminal's, 80 where there is none."""
    return max(20, min(_window().columns, MAX_WIDTH))


def rows() -> int:
    """Return the rows of the terminal that a page can have, with room for the prompt."""
    return _window().lines - 1


def text_width() -> int:
    """Return how wide prose and tables are: the columns of the terminal, within bounds."""
    return max(text_layout.NARROWEST, min(width(), text_layout.WIDEST))


def _is_terminal(stream: TextIO | None) -> bool:
    return not isinstance(style, Recording) and stream is not None and stream.isatty()


def can_show(text: str) -> bool:
    """Return whether standard output has every character of a text."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    return text.encode(encoding, "replace").decode(encoding) == text


def is_dialog() -> bool:
    """Return whether a person can be asked: all three streams are a terminal."""
    return all(map(_is_terminal, (sys.stdin, sys.stdout, sys.stderr)))


def confirm(question: str) -> bool:
    """Ask for a yes or a no on standard error; no is what nothing means."""
    import typer

    flush()  # which takes the status line away
    return bool(typer.confirm(question, default=False, err=True))


def ask(prompt: str) -> str:
    """Ask on standard output and return the line that is typed; EOFError where there is none.

    A line that comes from no terminal is shown as if it had been typed.
    """
    person = _is_terminal(sys.stdin) and _is_terminal(sys.stdout)
    if person:
        with suppress(ImportError):
            import readline  # noqa: F401 - so that a line can be edited
    with suppress(AttributeError, io.UnsupportedOperation):  # no file, or it was read before
        sys.stdin.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    write("" if person else prompt, end="")
    try:
        if sys.stdin is None:  # closed by the caller
            raise EOFError
        line = input(escape_text(prompt) if person else "")
    except (EOFError, KeyboardInterrupt):
        write()  # what follows begins on a line of its own
        raise
    if not person:
        write(line)
    return line


def write(text: str = "", end: str = "\n") -> None:
    """Write a line, or several, in which nothing acts on the terminal."""
    _put(sys.stdout, escape_text(text) + end)


def show_page(
    blocks: Iterable[Block],
    *,
    commands: Sequence[str] = (),
    rows: int | None = None,
    paged: bool = False,
    markdown: bool = False,
) -> None:
    """Write a page, of so many rows if it has to fit, and the commands to type next.

    With `--plain` it has a fact a line. With `markdown` it is Markdown, unless a terminal shows it.
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
    """Write lines; `paged`: through a pager where they are more than fit on the screen."""
    styled = style.color == "always"
    if style.color == "auto" and not style.plain:
        dropped = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        styled = not dropped and bool(os.environ.get("FORCE_COLOR") or _is_terminal(sys.stdout))
    text = "".join(f"{_styled(line, styled=styled).rstrip(' ')}\n" for line in content)
    if not (paged and _paged(text)):
        _put(sys.stdout, text)


class _Captured(io.StringIO):
    def isatty(self) -> bool:
        return True


@contextmanager
def capture_output() -> Iterator[io.StringIO]:
    """Give what is written meanwhile, to either stream, as a terminal would have been sent it."""
    paging = style.paging
    style.paging = False
    try:
        with redirect_stdout(_Captured()) as text, redirect_stderr(text):
            yield text
    finally:
        style.paging = paging


def send(text: str) -> None:
    """Write control sequences, and what was captured, whatever is captured meanwhile."""
    _put(sys.__stdout__, text)


def write_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, long: str, spare: Sequence[str] = ()
) -> None:
    """Write a table that fits the window: the cells of its `long` column are cut.

    Columns of `spare` are left out in turn, until that column is `_LEAST` wide or all it needs.
    """
    rows = list(rows)
    at = head.index(long)
    dropped = set[str]()
    if style.plain:
        write_lines(text_layout.format_columns(head, rows, plain=True))
        return

    def laid(room: int) -> list[text_layout.Line]:
        kept = [
            [text_layout.truncate(cell, room) if n == at else cell for n, cell in enumerate(row)
             if head[n] not in dropped]
            for row in (head, *rows)
        ]  # fmt: skip
        return text_layout.format_columns(kept[0], kept[1:], right=("no.", "try", "min"))

    need = max(text_layout.display_width(row[at]) for row in (head, *rows) if len(row) > at)
    for name in ("", *spare):
        dropped.add(name)
        widest = max(
            text_layout.display_width(text_layout.without_styles(line)) for line in laid(need)
        )
        room = need + max(width(), text_layout.NARROWEST) - widest
        if room >= min(need, _LEAST):
            break
    write_lines(laid(max(min(room, need), 8)), paged=True)


def _styled(line: text_layout.Line, *, styled: bool) -> str:
    spans = [(line, "")] if isinstance(line, str) else line
    return "".join(
        f"\x1b[{sgr}m{escape_text(text)}\x1b[0m" if styled and sgr and text else escape_text(text)
        for text, sgr in spans
    )


def write_next_steps(*commands: str, after: str = "") -> None:
    """Write what to type next, below other words if there are any."""
    write_lines([*[after] * bool(after), *text_layout.next_step_lines(commands, text_width())])


def _paged(text: str) -> bool:
    """Show a text in a pager if it is longer than a person's screen; return whether it was."""
    if not style.paging or style.plain or not _is_terminal(sys.stdout):
        return False
    size = get_terminal_size((80, 24))
    rows = sum(
        max(1, -(-text_layout.display_width(line) // size.columns)) for line in text.splitlines()
    )
    pager = os.environ.get("PAGER", "less -FRX" if which("less") else "")
    if rows < size.lines or not pager.strip():
        return False
    import subprocess

    environment = {"LESS": "FRX", **os.environ}  # for a PAGER that says nothing but less
    shell = ["/bin/sh", "-c", pager]  # as git and man do
    with interrupts_ignored():  # they are the pager's own business
        ended = subprocess.run(shell, input=text, encoding="utf-8", env=environment, check=False)
    return ended.returncode not in {126, 127}  # of a shell that has found no such program


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Let Ctrl-C do nothing to this process meanwhile."""
    import signal

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def write_json(*, format: int = 1, indent: int | None = 2, **content: object) -> None:
    """Write one JSON document; a path is its text."""
    import json

    content = {"format": format, **content}
    write(json.dumps(content, indent=indent, allow_nan=False, default=os.fspath))


def emit_json(json: bool, **content: Any) -> bool:  # noqa: ANN401 - what JSON takes
    """Write a result as a document if wanted, and return if that is all; a recording has both."""
    if isinstance(style, Recording):
        style.document = {"format": 1, **content}
        return False
    if json:
        write_json(**content)
    return json


def warn(message: str, hint: str = "", excerpt: Sequence[str] = ()) -> None:
    """Say what is wrong, whether or not it changes the result, where, and what to do."""
    info(f"drill: {message}")
    for line in excerpt:
        info(f"       {line}")
    if len(hint) + 4 > text_width() and _is_terminal(sys.stderr):
        if hint.startswith("Next: "):  # what is to be typed is never folded
            hint = hint.replace(text_layout.GAP_TEXT, "\n          ")
        else:
            hint = "\n    ".join(text_layout.wrap_words(hint, text_width() - 4))
    if hint:
        info(f"    {hint}")


def info(text: str) -> None:
    """Write to standard error: folded between words for a person, one line for a program.

    What is to be typed is never folded: a line that begins with blanks.
    """
    text = escape_text(text)
    if _is_terminal(sys.stderr) and "\n" not in text and not text.startswith(" "):
        text = "\n".join(text_layout.wrap_words(text, text_width(), indent="    "))
    with suppress(PipeClosedError, UsageError):
        _put(sys.stderr, text + "\n")


@contextmanager
def show_status() -> Iterator[Callable[..., None]]:
    """Give `draw_status`, for the steps of a long command; silent where nobody looks."""
    if isinstance(style, Recording):
        yield style.doing
        return
    erasable = os.environ.get("TERM", "") not in {"dumb", "unknown", ""}
    if not (erasable and _is_terminal(sys.stderr)):
        yield lambda *_: None
        return
    try:
        yield draw_status
    finally:
        draw_status("")


def draw_status(text: str, above: str = "") -> None:
    """Put a text in the place of the status line, below one that stays.

    A terminal that is gone is no fault.
    """
    style.has_status = False
    stays = f"{escape_text(above)}\n" if above else ""
    with suppress(PipeClosedError, UsageError):
        _put(sys.stderr, f"{ERASE_LINE}{stays}{escape_text(text)[: width() - 1]}")
    style.has_status = bool(text)


def flush() -> None:
    """Send what is buffered, so that a closed pipe is noticed while it can be dealt with."""
    _put(sys.stdout, "")


def _put(stream: TextIO | None, text: str) -> None:
    if isinstance(style, Recording):
        style.page += text
        style.remarks += text if stream is sys.stderr else ""
        return
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
    """Point the stream at nothing, so that Python's own flush at the end stays quiet."""
    with suppress(OSError, ValueError), Path(os.devnull).open("wb") as nothing:
        os.dup2(nothing.fileno(), stream.fileno())
