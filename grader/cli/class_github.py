"""`drill class github`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import context, ids


def command(
    ctx: typer.Context,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The students' template.", show_default=False)
    ],
    questions: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", autocompletion=ids, show_default=False),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--class", metavar="FILE", help="A class.yaml, in place of the ids."),
    ] = None,
    isolation: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="At least strong (if not given), limited or process."),
    ] = None,
) -> None:
    """Write a workflow that grades a student's repository on GitHub."""
    from grader.app import autograder

    files = autograder.github(context(ctx), questions or (), isolation or "", file)
    autograder.write_files(out, files)
    for name in files:
        output.write(f"{out / name}")
    output.info("whoever has the repository can read the references in it, and change the workflow")
