"""`drill watch`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import SomeId, context, flag

if TYPE_CHECKING:
    from grader.app.context import Context
    from grader.app.watching import Watching
    from grader.cli.screen import Live


def watch(
    ctx: typer.Context,
    question: SomeId = None,
    json: Annotated[bool, flag("--json", "Print each report as a line of JSON.")] = False,
) -> None:
    """Grade at every save, until q or Ctrl-C: 0, whatever the verdict."""
    from grader.cli.screen import SAVED, events, page_of
    from grader.reports.json import dumps

    here = context(ctx)
    if can_redraw() and not json:
        on_screen(ctx, here, question)
        return
    with _watched(here, question) as (watched, wake, _):
        for event in chain([SAVED], events(wake)):
            if event != SAVED or not watched.look():
                continue
            if watched.fault is not None:
                output.warn(watched.fault.message, watched.fault.hint)
            elif json and watched.graded is not None:
                output.write(dumps(watched.graded.report))
            else:
                output.show(page_of(watched), rows=output.rows())
                output.write()


def can_redraw() -> bool:
    """Return whether a person looks at a terminal that can be drawn anew."""
    dumb = output.style.plain or os.environ.get("TERM", "dumb") == "dumb"
    return output.is_dialog() and not dumb


def on_screen(
    ctx: typer.Context, here: Context, question: str | None, live: Live | None = None
) -> bool:
    """Watch a drill on the other screen; return whether an interview is to go on."""
    from grader.cli.screen import Screen

    further, notes = [False], list[str]()
    here = replace(here, say=lambda *said: notes.append(" ".join(said).rstrip()))
    with ExitStack() as stack:
        stack.callback(lambda: list(map(output.warn, notes)))  # once the screen is gone
        watched, wake, waker = stack.enter_context(_watched(here, question))
        screen = stack.enter_context(Screen(ctx, watched, notes, wake, waker, live))
        screen.run()
        further.append(screen.further)
    return further[-1]  # the first where Ctrl-C came before


@contextmanager
def _watched(here: Context, question: str | None) -> Iterator[tuple[Watching, int, int]]:
    """Give a drill that is watched, and the ends of a pipe that wakes who waits for a save.

    Ctrl-C ends what is done with it, and no more.
    """
    from grader.app.watching import Watching, saves

    wake, waker = os.pipe()
    os.set_blocking(waker, False)

    def saved() -> None:
        with suppress(BlockingIOError):  # it is full, and so the loop will wake
            os.write(waker, b"\0")

    with (
        Watching(here, question) as watched,
        suppress(KeyboardInterrupt),
        saves(watched.path, saved),
    ):
        yield watched, wake, waker
