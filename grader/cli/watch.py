"""`drill watch`."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import chain
from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import SomeId, context, flag


def watch(
    ctx: typer.Context,
    question: SomeId = None,
    json: Annotated[bool, flag("--json", "Print each report as a line of JSON.")] = False,
) -> None:
    """Grade at every save, until q or Ctrl-C: 0, whatever the verdict."""
    from grader.app.watching import Watching, saves
    from grader.cli.screen import SAVED, Screen, events, page_of
    from grader.reports.json import dumps

    here, notes = context(ctx), list[str]()
    dumb = output.style.plain or os.environ.get("TERM", "dumb") == "dumb"
    if redrawn := output.is_dialog() and not (dumb or json):
        here = replace(here, say=lambda *said: notes.append(" ".join(said).rstrip()))
    wake, waker = os.pipe()
    os.set_blocking(waker, False)

    def saved() -> None:
        with suppress(BlockingIOError):  # it is full, and so the loop will wake
            os.write(waker, b"\0")

    with ExitStack() as stack:
        stack.callback(lambda: list(map(output.warn, notes)))  # once the screen is gone
        watched = stack.enter_context(Watching(here, question))
        stack.enter_context(suppress(KeyboardInterrupt))
        stack.enter_context(saves(watched.path, saved))
        if redrawn:
            stack.enter_context(Screen(ctx, watched, notes, wake, waker)).run()
            return
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
