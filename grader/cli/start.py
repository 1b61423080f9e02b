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
    from grader import forms
    from grader.app.starting import start
    from grader.app.workspace import QUESTION
    from grader.reports.blocks import Code, Commands
    from grader.reports.question import LEAST_ROWS, page

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
    folder = made.workspace.folder
    own = made.workspace.submission.name
    near = [here.near(folder / name) for name in (QUESTION, own)]
    width = max(map(len, near))
    shown = forms.of(found.spec).materials(found.spec)
    also = [one.heading.split()[0].strip(",").lower() for one in shown]
    also += ["interface in full"] * bool(found.spec.parts[0].interface)
    read = ", ".join(["this", *also]) if len(also) != 1 else f"this, and the {also[0]}"
    once = "   the first grade counts" if forms.of(found.spec).one_try else ""
    said = [f"Read  {near[0]:<{width}}   {read}", f"Edit  {near[1]:<{width}}{once}".rstrip()]
    if made.already and own not in made.written:
        said[1] = f"Edit  {near[1]:<{width}}   it is yours and was left as it is"
    there = "" if folder == here.folder else f"cd {here.typed(folder)}"
    run = "" if found.spec.experiments is None else "drill run"
    steps = filter(None, (there, run, "drill grade"))  # the folder knows its bank
    ending = (Code(tuple(said), 0), Commands(tuple(steps)))
    asked = here.progress(found).asked(len(found.spec.parts))
    part = 1 if own in made.written else asked  # a starter is of the first
    output.show(page(found, part, ending), rows=max(output.rows(), LEAST_ROWS))
