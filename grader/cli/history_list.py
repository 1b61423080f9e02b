"""`drill history`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, context, ids, local_time
from grader.reports import sheet

if TYPE_CHECKING:
    from grader.app.history import Row

MOST = 100  # rows, unless all are wanted
_HEAD = ("no.", "question", "when", "part", "verdict", "idea, or what failed first", "hints")


def command(
    ctx: typer.Context,
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="Only this question.",
            autocompletion=ids,
            show_default=False,
        ),
    ] = None,
    all_: Annotated[
        bool,
        typer.Option("--all", help=f"Every one, not just changes among the latest {MOST}."),
    ] = False,
    json: Json = False,
) -> None:
    """List what was graded or kept, the latest last (the default)."""
    from grader.app.history import history

    here = context(ctx)
    found, earlier = history(here, question, most=None if all_ or json else MOST)
    if json:
        rows = [asdict(row) for row in found]
        attempts = [row.pop("attempt") | row for row in rows]  # what was found, also if no news
        for row in attempts:
            row["parts"] = (row["parts"] or "").split()
            del row["failing"]
        output.document(attempts=[{"attempt": row.pop("id"), **row} for row in attempts])
        return
    which = f" {question}" if question else ""
    if not found:
        output.write(f"no attempt{f' of{which}' if which else ''} yet; drill grade makes one")
        return
    shown = list(found) if all_ else changes(found)
    every = [_cells(row) for row in shown]
    dropped = {1} if question else set()
    dropped |= {2, 6} if output.measure() < sheet.WIDEST else set()
    kept = [n for n, _ in enumerate(_HEAD) if n not in dropped]
    head, table = [_HEAD[n] for n in kept], [[row[n] for n in kept] for row in every]
    lines = sheet.columns(head, table, right=("no.",), plain=output.style.plain)
    output.lines(lines, paged=all_)
    restore, of = f"drill history restore {shown[-1].attempt.id}", len(found) + earlier
    if len(shown) == of:
        output.steps(restore)
    else:
        whole = f"drill history{which}{here.option} --all"
        output.steps(whole, restore, after=f"{len(shown):,} of {of:,} tries")


def changes(rows: tuple[Row, ...]) -> list[Row]:
    """The rows that show something new, and the last one."""
    pairs = zip(rows, (None, *rows), strict=False)
    shown = [row for row, before in pairs if before is None or not row.repeats(before)]
    return shown if shown[-1] is rows[-1] else [*shown, rows[-1]]


def _cells(row: Row) -> tuple[str, ...]:
    attempt = row.attempt
    state = row.verdict.upper() if attempt.verdict else row.verdict
    return (
        str(attempt.id),
        attempt.question,
        local_time(attempt.created_at),
        f"{row.part} of {row.of}" if row.of > 1 else "",
        f"{state} (a file)" if attempt.kind == "review" else state,
        sheet.cut(row.believed, 38),
        str(row.hints or ""),
    )
