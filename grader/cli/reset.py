"""`drill reset`."""

from __future__ import annotations

import typer

from grader.cli import output
from grader.cli.context import context
from grader.cli.options import Json, SomeId


def command(ctx: typer.Context, question: SomeId = None, json: Json = False) -> int:
    """Put the starter back; a copy of your file is kept."""
    from grader.app.starting import reset

    here = context(ctx)
    found, path, copy = reset(here, question)
    if json:
        output.document({"format": 1, "question": found.id, "submission": path, "kept": copy})
        return 0
    shown = here.near(path)
    output.write(f"{shown} is the starter again" if copy else f"{shown} is the starter")
    if copy is not None:
        output.write(f"what was there is kept in {here.near(copy)}")
    return 0
