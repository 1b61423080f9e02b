"""Where a long command is, on one line of the terminal that goes away when it is done.

Nobody but a person at a terminal sees it: nothing is written when standard error is a file or a
pipe.  On a terminal that cannot take a line back there is a line for each step instead.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from grader.cli import output


@contextmanager
def waiting() -> Iterator[Callable[[str], None]]:
    """Give what to call with each step; the line is gone again afterwards, whatever happened."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    if os.environ.get("TERM", "") in {"dumb", "unknown", ""}:
        yield output.progress
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    plain = bool(os.environ.get("NO_COLOR"))
    console = Console(
        file=sys.stderr, width=output.width(), color_system=None if plain else "auto", emoji=False
    )
    columns = (SpinnerColumn("line"), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("starting")

        def tell(line: str) -> None:
            shown.update(task, description=line.replace("[", r"\["))

        yield tell
