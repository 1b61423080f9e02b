"""How far a long command is: a bar, a rate and what is left, for a person at a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from grader.cli import output
from grader.reports.sheet import harmless

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
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
    from rich.text import Text

    no_color = output.style.color == "never" or None  # None: as the environment says
    console = Console(stderr=True, no_color=no_color, highlight=False, soft_wrap=True)
    columns = (BarColumn(), MofNCompleteColumn(), "{task.fields[rate]}", TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=of, completed=already, rate="")

        def step(done: int, line: str) -> None:
            if line:
                console.print(Text(harmless(line)))
            speed = progress.tasks[task].speed
            rate = f"{speed:.1f} per second, left" if speed else "left"
            progress.update(task, completed=done, rate=rate)

        yield step
