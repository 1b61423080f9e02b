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
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    description = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn("line"), TimeElapsedColumn(), description)
    with Progress(*columns, console=output.console(sys.stderr), transient=True) as shown:
        task = shown.add_task("starting")
        yield lambda line: shown.update(task, description=line)
