"""How far a long command is: a bar, a rate and what is left, for a person at a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from grader.cli import output
from grader.reports.inert import harmless

Step = Callable[[int, str], None]  # how many are done with, and a line to leave above the bar


@contextmanager
def bar(of: int, already: int) -> Iterator[Step]:
    """Draw a bar on standard error, gone again afterwards; silent where nobody looks.

    Args:
        of: How many things there are to do.
        already: How many of them were done before: they say nothing of the rate.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _done, _line: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    console = Console(stderr=True, no_color=not output.colored(), highlight=False, soft_wrap=True)
    progress = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("left"),
        TimeRemainingColumn(compact=True),
        TextColumn("gone"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    task = progress.add_task("", total=of, completed=already, rate="")

    def step(done: int, line: str) -> None:
        if line:
            progress.console.print(Text(harmless(line)))
        speed = progress.tasks[task].speed
        rate = f"{speed:.1f} per second" if speed else ""
        progress.update(task, completed=done, rate=rate)

    with progress:
        yield step
