"""`drill class github`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import context, ids


def command(
    ctx: typer.Context,
    questions: Annotated[list[str], typer.Argument(metavar="ID...", autocompletion=ids)],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The students' template.", show_default=False)
    ],
    isolation: Annotated[
        str, typer.Option(metavar="LEVEL", help="At least strong, limited or process.")
    ] = "strong",
) -> None:
    """Write a workflow that grades a student's repository on GitHub."""
    from grader.app import autograder

    files = autograder.github(context(ctx), questions, isolation)
    autograder.write_files(out, files)
    for name in files:
        output.write(f"{out / name}")
    output.aside(
        "whoever has the repository can read the references in it, and change the workflow"
    )
