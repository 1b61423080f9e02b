"""`drill watch`: grade a drill at every save, on a screen or line by line."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands import output
from grader.commands.options import SomeId, command_context, flag
from grader.commands.watched_drill import WatchedDrill

if TYPE_CHECKING:
    from grader.commands.watch_screen import InterviewControls


def watch(
    ctx: typer.Context,
    question: SomeId = None,
    json: Annotated[bool, flag("--json", "Print each report as a line of JSON.")] = False,
) -> None:
    """Grade at every save, until q or Ctrl-C."""
    watch_drill(ctx, question, json=json)


def watch_drill(
    ctx: typer.Context,
    question_id: str | None,
    controls: InterviewControls | None = None,
    *,
    json: bool = False,
) -> bool:
    """Grade a drill at every save, on a screen if there is one, until the person leaves.

    With the `controls` of an interview, return True if the person wants the next question and time
    is left.
    """
    from grader.commands.watch_screen import WatchScreen

    context = command_context(ctx)
    warnings: list[str] = []
    has_screen = output.can_redraw() and not json
    if has_screen:
        context = replace(
            context, show_warning=lambda *texts: warnings.append(" ".join(texts).rstrip())
        )
    with ExitStack() as stack:
        stack.callback(lambda: list(map(output.warn, warnings)))  # after the screen is closed
        watched = stack.enter_context(WatchedDrill(context, question_id))
        stack.enter_context(suppress(KeyboardInterrupt))
        if has_screen:
            screen = WatchScreen(ctx, watched, warnings, controls)
            return stack.enter_context(screen).run()
        _write_grades(watched, json=json)
    return False


def _write_grades(watched: WatchedDrill, *, json: bool) -> None:
    """Write each grade as a page (`json`: as a line of JSON), until standard input ends."""
    from grader.commands.watch_screen import watch_page
    from grader.commands.whole_screen import LOOK_EVENT, screen_events
    from grader.reports.json import dumps

    for event in chain([LOOK_EVENT], screen_events()):
        if event != LOOK_EVENT or not watched.grade_if_changed():
            continue
        if watched.fault:
            output.warn(watched.fault.message, watched.fault.hint)
        elif json and watched.last_grade:
            output.write(dumps(watched.last_grade.report))
        else:
            output.show_page(watch_page(watched), rows=output.rows())
            output.write()
