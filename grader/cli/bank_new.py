"""`drill bank new`."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, context
from grader.model.numerals import quantity


def command(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(metavar="ID", show_default=False)],
    one_file: Annotated[
        bool, typer.Option("--one-file", help="Everything in one YAML file.")
    ] = False,
    parts: Annotated[
        int | None, typer.Option(metavar="N", help="A skeleton in N parts, from 2 to 9.")
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            metavar="FORM",
            help="fix, estimate, predict, derive, review, diagnose or write-the-test.",
        ),
    ] = "fix",
    json: Json = False,
) -> None:
    """Write a question that passes its audit, to begin from."""
    from grader.app.authoring import new

    here = context(ctx)
    made = new(here, question, one_file=one_file, parts=parts, form=form)
    if json:
        output.document(
            question=question,
            bank=made.bank,
            spec=made.written[0],
            written=made.written,
            todo=made.todo,
        )
        return
    for path in made.written:
        output.write(here.near(path))
    output.write()
    if made.todo:
        marked = quantity(len(made.todo), "place is", "places are")
        output.write(f"{marked} marked TODO in the files\n")
    output.write("next:")
    if made.todo:
        output.write("  replace what is marked TODO; the audit counts what is left of it")
    where = shlex.quote(here.near(made.bank))
    output.write(f"  drill --bank {where} bank audit {question}")
    output.write(f"  drill --bank {where} start {question}")
    output.write(f"  drill bank add {where}")
