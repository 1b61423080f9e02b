"""`drill watch`."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands import output
from grader.commands.options import SomeId, command_context, flag

if TYPE_CHECKING:
    from grader.commands.watch_screen import InterviewControls


def watch(
    ctx: typer.Context,
    question: SomeId = None,
    json: Annotated[bool, flag("--json", "Print each report as a line of JSON.")] = False,
) -> None:
    """Grade at every save, until q or Ctrl-C."""
    watch_drill(ctx, question, json=json)


def can_redraw() -> bool:
    """Return whether a person looks at a terminal that can be drawn anew."""
    dumb = output.style.plain or os.environ.get("TERM", "dumb") == "dumb"
    return output.is_dialog() and not dumb


def watch_drill(
    ctx: typer.Context,
    question: str | None,
    live: InterviewControls | None = None,
    *,
    json: bool = False,
) -> bool:
    """Grade a drill at every save; return whether the interview it is in is to go on."""
    from grader.commands.watch_screen import SAVED_EVENT, Screen, screen_events, watch_page
    from grader.commands.watching import WatchedDrill, watch_saves
    from grader.reports.json import dumps

    here = command_context(ctx)
    notes = list[str]()
    if redrawn := can_redraw() and not json:
        here = replace(here, show_warning=lambda *said: notes.append(" ".join(said).rstrip()))
    wake, waker = os.pipe()
    os.set_blocking(waker, False)

    def saved() -> None:
        with suppress(BlockingIOError):  # it is full, and so the loop will wake
            os.write(waker, b"\0")

    with ExitStack() as stack:
        stack.callback(lambda: list(map(output.warn, notes)))  # once the screen is gone
        watched = stack.enter_context(WatchedDrill(here, question))
        stack.enter_context(suppress(KeyboardInterrupt))
        stack.enter_context(watch_saves(watched.path, saved))
        if redrawn:
            return stack.enter_context(Screen(ctx, watched, notes, wake, waker, live)).run()
        for event in chain([SAVED_EVENT], screen_events(wake)):
            if event != SAVED_EVENT or not watched.grade_if_changed():
                continue
            if watched.fault:
                output.warn(watched.fault.message, watched.fault.hint)
            elif json and watched.last_grade:
                output.write(dumps(watched.last_grade.report))
            else:
                output.show_page(watch_page(watched), rows=output.rows())
                output.write()
    return False
