"""`drill history`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import completion, output
from grader.cli.context import context, local_time
from grader.cli.options import Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from grader.records.attempts import Attempt


def command(
    ctx: typer.Context,
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="Only this question.",
            autocompletion=completion.ids_or_restore,
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> int:
    """List every version that was graded or kept (the default)."""
    from grader.app.history import history

    found = history(context(ctx), question)
    if json:
        rows = [asdict(attempt) for attempt in found]
        attempts = [{"attempt": row.pop("id"), **row} for row in rows]
        output.document({"format": 1, "attempts": attempts})
    elif found:
        output.show(table(found))
        output.write()
        output.write("drill history restore NUMBER brings one of them back")
    else:
        which = f" of {question}" if question else ""
        output.write(f"no attempt{which} yet; drill grade makes one")
    return 0


def table(found: Sequence[Attempt]) -> Table:
    """Return the attempts as a table."""
    from rich.table import Table

    result = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    result.add_column("no.", justify="right", no_wrap=True)
    result.add_column("question", no_wrap=True)
    result.add_column("when", no_wrap=True)
    result.add_column("verdict", no_wrap=True)
    result.add_column("seed", justify="right", overflow="fold")
    for attempt in found:
        state = f"{attempt.state} (a file)" if attempt.kind == "review" else attempt.state
        result.add_row(
            str(attempt.id),
            attempt.question,
            local_time(attempt.created_at),
            state,
            "" if attempt.seed is None else str(attempt.seed),
        )
    return result
