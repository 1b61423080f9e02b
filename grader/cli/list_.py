"""`drill list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, context, tracks
from grader.model.numerals import quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from grader.model.question import Header
    from grader.records.progress import Progress

_LEVEL_FROM = 72  # columns of a window in which there is room for it after the title


def command(
    ctx: typer.Context,
    track: Annotated[
        str | None,
        typer.Option(metavar="TRACK", help="Only this track.", autocompletion=tracks),
    ] = None,
    json: Json = False,
) -> None:
    """List the questions, and how far you are with each."""
    from grader.app.catalog import questions

    found = questions(context(ctx), track)
    if json:
        names = ("id", "called", "title", "track", "level", "minutes", "bank")
        rows = [
            {name: getattr(header, name) for name in names}
            | {"state": yours.state, "tries": yours.tries}
            | {"parts": header.parts, "parts_passed": yours.passed_of(header.parts)}
            for header, yours in found
        ]
        output.document(questions=rows)
    elif found:
        output.show(_table(found))
    else:
        output.write("no questions: the banks that were found hold none")


def _table(found: Sequence[tuple[Header, Progress]]) -> Table:
    """Return the questions as a table, a heading for each track."""
    narrow = output.width() < _LEVEL_FROM
    result = output.table()
    result.add_column("question", no_wrap=True)
    result.add_column("title", min_width=10 if narrow else 20)
    if not narrow:
        result.add_column("level", no_wrap=True)
    result.add_column("min", justify="right", no_wrap=True)
    result.add_column("you", no_wrap=True)
    track = None
    for header, yours in found:
        if header.track != track:
            track = header.track
            result.add_row(f"\n{track}", style="bold")
        tries = quantity(yours.tries, "try", "tries")
        result.add_row(
            f"  {header.called}",
            header.title,
            *([] if narrow else [header.level]),
            str(header.minutes),
            f"{yours.reached(header.parts)}{tries}" if yours.state == "tried" else yours.state,
            style="dim" if yours.passed else "",
        )
    return result
