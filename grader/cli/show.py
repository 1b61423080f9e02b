"""`drill show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from grader.cli import output
from grader.cli.context import Id, Json, context

if TYPE_CHECKING:
    from grader.model.keys import Check


def command(ctx: typer.Context, question: Id, json: Json = False) -> None:
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
        checks=[
            {"id": c.id, "kind": c.kind, "about": c.about, **_tolerance(c)} for c in spec.checks
        ],
        hints=len(spec.hints),
    )


def _tolerance(check: Check) -> dict[str, object]:
    """What a check allows besides rounding, if it does."""
    given = getattr(check, "tolerance", None)
    return {} if given is None else {"tolerance": given.model_dump(exclude_none=True)}
