"""`drill start`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import Id, Json, context


def command(
    ctx: typer.Context,
    question: Id,
    dir_: Annotated[
        Path | None,
        typer.Option("--dir", metavar="DIR", help="Where to make the drill's folder."),
    ] = None,
    json: Json = False,
) -> None:
    """Make a folder with a drill; never over anything."""
    from grader.app.parts import asked
    from grader.app.starting import start
    from grader.app.workspace import SUBMISSION
    from grader.reports.question import render_question

    here = context(ctx)
    found, made = start(here, question, parent=dir_)
    if json:
        output.document(
            question=found.id,
            folder=made.workspace.folder,
            submission=made.workspace.submission,
            already_started=made.already,
            started_at=made.workspace.started_at,
            written=made.written,
        )
        return
    shown = here.near(made.workspace.submission)
    output.show(render_question(found, output.width(), parts=asked(here, found)))
    output.write()
    if made.already and SUBMISSION not in made.written:
        output.write(f"already started: {shown} is yours and was left as it is")
    else:
        output.write(f"edit {shown}, then: drill grade")
