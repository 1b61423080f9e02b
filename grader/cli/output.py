"""The only module that writes to the terminal.

Results go to standard output, everything about the run itself to standard error. A reader that
closes the pipe (`drill list | head -1`) ends the command silently with the status that a shell
gives a program killed by SIGPIPE. Color is left to rich, which knows pipes and TERM=dumb;
NO_COLOR here means no escape sequence at all.
"""

from __future__ import annotations

import io
import os
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, TextIO

from grader.model.errors import UsageError
from grader.reports.inert import harmless

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

MAX_WIDTH = 120  # beyond this a line of prose or a table is harder to read, not easier
SIGPIPE_STATUS = 141


class PipeClosedError(Exception):
    """Our reader has gone; not an OSError, which typer would swallow."""


def width() -> int:
    """Return the columns to fill: the terminal's, 80 where there is none."""
    return max(20, min(get_terminal_size((80, 24)).columns, MAX_WIDTH))


class _Sheet(io.StringIO):
    """Paper that rich takes for standard output; what is on it is written by `_put`, like all."""

    @property
    def encoding(self) -> str:  # type: ignore[override]  # read-only in fact, not in typeshed
        return getattr(sys.stdout, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        return sys.stdout is not None and sys.stdout.isatty()


def _console(file: TextIO) -> Console:
    """Return what renders for a file as wide as the terminal."""
    from rich.console import Console

    return Console(
        file=file,
        width=width(),
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        highlight=False,
        markup=False,
        emoji=False,
    )


def table() -> Table:
    """Return an empty table of plain columns."""
    from rich.table import Table

    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")


def write(text: str = "") -> None:
    """Write a line, or several, in which nothing acts on the terminal."""
    _put(sys.stdout, harmless(text) + "\n")


def show(renderable: RenderableType) -> None:
    """Write what rich renders, without the blanks it fills lines up with.

    Nothing in its texts acts on the terminal; the styles are our own.
    """
    from rich.segment import Segment, Segments

    sheet = _Sheet()
    console = _console(sheet)
    found = (part for part in console.render(renderable) if not part.control)
    inert = Segments(Segment(harmless(part.text), part.style) for part in found)
    console.print(inert, crop=False)
    lines = sheet.getvalue().removesuffix("\n").split("\n")
    _put(sys.stdout, "".join(f"{line.rstrip(' ')}\n" for line in lines))


def heading(text: str) -> None:
    """Write a line that stands out where the terminal can do that."""
    from rich.text import Text

    show(Text(text, style="bold"))


def prose(text: str, *, indent: int) -> None:
    """Write paragraphs, folded."""
    from grader.reports.page import Page, measure
    from grader.reports.prose import prose_lines

    show(Page(prose_lines(text, measure(width()), indent=indent)))


def document(*, format: int = 1, **content: object) -> None:
    """Write one JSON document; a path is its text."""
    import json

    write(json.dumps({"format": format, **content}, indent=2, allow_nan=False, default=os.fspath))


def complain(message: str, hint: str = "", excerpt: Sequence[str] = ()) -> None:
    """Say what is wrong, whether or not it changes the result, where, and what to do."""
    aside(f"drill: {message}")
    for line in excerpt:
        aside(f"       {line}")
    if hint:
        aside(f"       {hint}")


@contextmanager
def waiting() -> Iterator[Callable[[str], None]]:
    """Give what to call with each step of a long command, for a person at a terminal only.

    It is one line, gone again afterwards, whatever happened; where a terminal cannot take a line
    back, there is a line for each step instead.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    if os.environ.get("TERM", "") in {"dumb", "unknown", ""}:
        yield lambda line: _put(sys.stderr, f"{harmless(line)}\n")
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    description = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn("line"), TimeElapsedColumn(), description)
    with Progress(*columns, console=_console(sys.stderr), transient=True) as shown:
        task = shown.add_task("starting")
        yield lambda line: shown.update(task, description=line)


def flush() -> None:
    """Send what is buffered, so that a closed pipe is noticed while it can be dealt with."""
    _put(sys.stdout, "")


def prepare() -> None:
    """Begin a command: let no character be more than the terminal can take."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def aside(text: str) -> None:
    """Write to standard error: folded between words for a person, one line for a program."""
    if sys.stderr is None:
        return
    text = harmless(text)
    if sys.stderr.isatty() and "\n" not in text:
        text = textwrap.fill(
            text,
            width(),
            subsequent_indent=" " * 7,
            break_long_words=False,
            break_on_hyphens=False,
        )
    with suppress(PipeClosedError, UsageError):
        _put(sys.stderr, text + "\n")


def _put(stream: TextIO | None, text: str) -> None:
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


def named(name: str, across: int, *lines: str) -> None:
    """Write a name, and what there is to say of it in a column after it."""
    for number, line in enumerate(filter(None, lines)):
        write(f"{'' if number else name:<{across}}  {line}")
