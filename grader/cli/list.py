"""`drill list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import completion, output
from grader.cli.context import context
from grader.cli.options import Json
from grader.model.numerals import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.table import Table

    from grader.model.question import Header
    from grader.records.progress import Progress

_LEVEL_FROM = 72  # columns of a window in which there is room for it after the title


def command(
    ctx: typer.Context,
    track: Annotated[
        str | None,
        typer.Option(metavar="TRACK", help="Only this track.", autocompletion=completion.tracks),
    ] = None,
    json: Json = False,
) -> int:
    """List the questions, and how far you are with each."""
    from grader.app.catalog import questions

    found, state = questions(context(ctx), track)
    if json:
        output.document({"format": 1, "questions": [_as_data(h, state) for h in found]})
    elif found:
        output.show(table(found, state))
    else:
        output.write("no questions: the banks that were found hold none")
    return 0


def table(found: Sequence[Header], state: Mapping[str, Progress]) -> Table:
    """Return the questions as a table, a heading for each track."""
    from rich.table import Table

    narrow = output.width() < _LEVEL_FROM
    result = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    result.add_column("question", no_wrap=True)
    result.add_column("title", min_width=10 if narrow else 20)
    if not narrow:
        result.add_column("level", no_wrap=True)
    result.add_column("min", justify="right", no_wrap=True)
    result.add_column("you", no_wrap=True)
    track = None
    for header in found:
        if header.track != track:
            track = header.track
            result.add_row(f"\n{track}", style="bold")
        yours = _progress(state, header)
        tries = quantity(yours.tries, "try", "tries")
        result.add_row(
            f"  {header.called}",
            header.title,
            *([] if narrow else [header.level]),
            str(header.minutes),
            tries if yours.state == "tried" else yours.state,
            style="dim" if yours.passed else "",
        )
    return result


def _progress(state: Mapping[str, Progress], header: Header) -> Progress:
    from grader.records.progress import Progress

    return state.get(header.id, Progress())


def _as_data(header: Header, state: Mapping[str, Progress]) -> dict[str, object]:
    yours = _progress(state, header)
    names = ("id", "called", "title", "track", "level", "minutes", "bank")
    head = {name: getattr(header, name) for name in names}
    return {**head, "state": yours.state, "tries": yours.tries}
