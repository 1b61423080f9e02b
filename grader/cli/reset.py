"""`drill reset`."""

from __future__ import annotations

import typer

from grader.cli import output
from grader.cli.context import Json, SomeId, context


def command(ctx: typer.Context, question: SomeId = None, json: Json = False) -> None:
    """Put the starter back; a copy of your file is kept."""
    from grader.app.starting import reset

    here = context(ctx)
    found, path, copy = reset(here, question)
    if json:
        output.document(question=found.id, submission=path, kept=copy)
        return
    output.write(f"{here.near(path)} is the starter{' again' if copy else ''}")
    if copy is not None:
        output.write(f"what was there is kept in {here.near(copy)}")
