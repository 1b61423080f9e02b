"""`drill show`, `drill start` and `drill reset`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import Id, Json, SomeId, context


def show(ctx: typer.Context, question: Id, json: Json = False) -> None:
    """Show a question without starting it."""
    here = context(ctx)
    found = here.load(question)
    if not json:
        from grader.reports.question import render_question

        output.show(render_question(found, output.width()))
        output.write(f"\ndrill start {question}{here.option} makes a folder for it")
        return
    spec = found.spec
    names = (  # nothing that gives the answer away
        *("title", "track", "level", "minutes", "uses"),
        *("prompt", "interface", "contract", "forbids"),
    )
    output.document(
        question=found.id,
        bank=found.bank,
        digest=found.digest,
        **{name: getattr(spec, name) for name in names},
        functions=list(found.functions),
        checks=[{"id": c.id, "kind": c.kind, "about": c.about} for c in spec.checks],
        hints=len(spec.hints),
    )


def start(
    ctx: typer.Context,
    question: Id,
    dir_: Annotated[
        Path | None,
        typer.Option("--dir", metavar="DIR", help="Where to make the drill's folder."),
    ] = None,
    json: Json = False,
) -> None:
    """Make a folder with a drill; never over anything."""
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
    output.show(render_question(found, output.width()))
    output.write()
    if made.already and SUBMISSION not in made.written:
        output.write(f"already started: {shown} is yours and was left as it is")
    else:
        output.write(f"edit {shown}, then: drill grade")


def reset(ctx: typer.Context, question: SomeId = None, json: Json = False) -> None:
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
