"""`drill list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, context, tracks
from grader.model.numerals import quantity
from grader.reports import sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.model.question import Header
    from grader.records.progress import Progress

_LEVEL_FROM = 90  # columns of a window from which on there is room for it
_HEAD = ("question", "title", "level", "parts", "min", "you")


def command(
    ctx: typer.Context,
    track: Annotated[
        str | None,
        typer.Option(metavar="TRACK", help="Only this track.", autocompletion=tracks),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="Only this level."),
    ] = None,
    new: Annotated[bool, typer.Option("--new", help="Only those not begun.")] = False,
    json: Json = False,
) -> None:
    """List the questions, and how far you are with each."""
    from grader.app.catalog import questions

    here = context(ctx)
    found = questions(here, track, level, new=new)
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
        passed = sum(yours.passed for _, yours in found)
        output.lines(_table(found), paged=True)  # the summary last: it stays in sight
        output.steps(f"drill next{here.option}", after=f"{passed} of {len(found)} passed")
    elif track or level or new:
        output.steps(f"drill list{here.option}", after="no such questions")
    else:
        output.write("no questions: the banks that were found hold none")


def _table(found: Sequence[tuple[Header, Progress]]) -> list[sheet.Line]:
    """The questions as a table, a heading for each track."""
    wide = output.width() >= _LEVEL_FROM
    width = _LEVEL_FROM if wide else output.measure()
    dropped = set() if wide else {"level"}
    dropped |= {"min"} if width < sheet.WIDEST else set()
    kept = [n for n, name in enumerate(_HEAD) if name not in dropped]
    every = [_HEAD, *(_cells(header, yours) for header, yours in found)]
    taken = sum(max(sheet.cells(row[n]) for row in every) + 2 for n in kept if n != 1)
    rows: list[list[str]] = []
    track = None
    for (header, _), (called, title, *cells) in zip(found, every[1:], strict=True):
        if header.track != track:
            track = header.track
            rows.append([track])
        row = [called, sheet.cut(title, max(width - taken, 8)), *cells]
        rows.append([row[n] for n in kept])
    head = [_HEAD[n] for n in kept]
    return sheet.columns(head, rows, right=("min",), plain=output.style.plain)


def _cells(header: Header, yours: Progress) -> tuple[str, ...]:
    return (
        f"  {header.called}",
        header.title,
        header.level,
        f"{yours.passed_of(header.parts)}/{header.parts}",
        str(header.minutes),
        quantity(yours.tries, "try", "tries") if yours.state == "tried" else yours.state,
    )
