"""`drill history`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, context, ids_or_restore, local_time

MOST = 100  # rows, unless all are wanted


def command(
    ctx: typer.Context,
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="Only this question.",
            autocompletion=ids_or_restore,
            show_default=False,
        ),
    ] = None,
    all_: Annotated[
        bool, typer.Option("--all", help=f"All, not just the latest {MOST} (--json: always).")
    ] = False,
    json: Json = False,
) -> None:
    """List what was graded or kept, the latest last (the default)."""
    from grader.app.history import history

    here = context(ctx)
    found, earlier = history(here, question, most=None if all_ or json else MOST)
    if json:
        rows = [asdict(a) | {"parts": (a.parts or "").split()} for a in found]
        output.document(attempts=[{"attempt": row.pop("id"), **row} for row in rows])
        return
    if not found:
        which = f" of {question}" if question else ""
        output.write(f"no attempt{which} yet; drill grade makes one")
        return
    table = output.table()
    table.add_column("no.", justify="right", no_wrap=True)
    for name in ("question", "when", "verdict"):
        table.add_column(name, no_wrap=True)
    table.add_column("seed", justify="right", overflow="fold")
    for attempt in found:
        table.add_row(
            str(attempt.id),
            attempt.question,
            local_time(attempt.created_at),
            f"{attempt.state} (a file)" if attempt.kind == "review" else attempt.state,
            "" if attempt.seed is None else str(attempt.seed),
        )
    output.show(table)
    if earlier:
        which = (f" {question}" if question else "") + here.option
        output.write(f"\n{earlier:,} earlier: drill history{which} --all lists them too")
    output.write("\ndrill history restore NUMBER brings one of them back")
