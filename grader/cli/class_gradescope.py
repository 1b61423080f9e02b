"""`drill class gradescope`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import context, ids


def command(
    ctx: typer.Context,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="The archive to upload.", show_default=False)
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
    """Make an autograder for Gradescope."""
    from grader.app import autograder
    from grader.classroom.disk import write_whole

    write_whole(out, [autograder.make(context(ctx), questions or (), isolation or "", file)])
    output.write(f"{out}: upload it under Configure Autograder")
    output.info("it holds the references: it is for the platform alone")
