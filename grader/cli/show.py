"""`drill show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from grader.cli import output
from grader.cli.context import context
from grader.cli.options import Id, Json

if TYPE_CHECKING:
    from grader.model.question import Question


def command(ctx: typer.Context, question: Id, json: Json = False) -> int:
    """Show a question without starting it."""
    from grader.app.catalog import load

    found = load(context(ctx), question)
    if json:
        output.document(_as_data(found))
        return 0
    from grader.reports.question import render_question

    output.show(render_question(found, output.width()))
    output.write()
    output.write(f"drill start {question} makes a folder for it")
    return 0


def _as_data(question: Question) -> dict[str, object]:
    """Return a question for a program, without anything that gives the answer away."""
    spec = question.spec
    names = (
        *("title", "track", "level", "minutes", "uses"),
        *("prompt", "interface", "contract", "forbids"),
    )
    return {
        "format": 1,
        "question": question.id,
        "bank": question.bank,
        "digest": question.digest,
        **{name: getattr(spec, name) for name in names},
        "functions": list(question.functions),
        "checks": [{"id": c.id, "kind": c.kind, "about": c.about} for c in spec.checks],
        "hints": len(spec.hints),
    }
