"""`drill class gradescope`."""

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
        Path, typer.Option(metavar="FILE", help="The archive to upload.", show_default=False)
    ],
    isolation: Annotated[
        str, typer.Option(metavar="LEVEL", help="At least strong, limited or process.")
    ] = "strong",
) -> None:
    """Make an autograder for Gradescope."""
    from grader.app import autograder
    from grader.app.exporting import write_whole

    write_whole(out, autograder.gradescope(context(ctx), questions, isolation))
    output.write(f"{out}: upload it under Configure Autograder")
    output.aside("it holds the references: it is for the platform alone")
