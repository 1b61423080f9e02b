"""`drill hint`."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, SomeId, context
from grader.model.numerals import quantity


def command(
    ctx: typer.Context,
    question: SomeId = None,
    number: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="This one, whatever was shown before.")
    ] = None,
    json: Json = False,
) -> None:
    """Show one more hint."""
    from grader.app.hints import hint
    from grader.reports.blocks import from_markdown

    given = hint(context(ctx), question, number=number)
    found, argument = given.choice.question, given.choice.argument
    if json:
        shown = [{"number": n, "text": text} for n, text in given.shown]
        output.document(question=found.id, hints=shown, left=given.left)
        return
    if not given.shown:
        output.write(f"{found.id} has no hints")
        return
    for n, text in given.shown:
        output.write(f"hint {n} of {given.total}")
        output.show(from_markdown(text, indent=4))
    if given.left:
        # Where nothing can be recorded, the next one has to be asked for.
        which = "" if given.counted else f" --number {given.shown[-1][0] + 1}"
        output.steps(f"drill hint{argument}{which}", after=quantity(given.left, "more hint"))
    else:
        said = "these were all the hints" if given.all else "that was the last hint"
        output.steps(f"drill solution{argument} --give-up", after=said)
