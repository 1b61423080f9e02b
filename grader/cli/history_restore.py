"""`drill history restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, context
from grader.model.numerals import quantity


def command(
    ctx: typer.Context,
    attempt: Annotated[int, typer.Argument(metavar="NUMBER", help="As drill history has it.")],
    to: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Into this new file instead of submission.py."),
    ] = None,
    json: Json = False,
) -> None:
    """Bring a version back, keeping what is there."""
    from grader.app.history import restore

    size, path, copy = restore(context(ctx), attempt, to=to)
    if json:
        output.document(attempt=attempt, restored=path, kept=copy)
        return
    output.write(f"attempt {attempt} ({quantity(size, 'byte')}) is in {path}")
    if copy is not None:
        output.write(f"what was there is kept in {copy}")
