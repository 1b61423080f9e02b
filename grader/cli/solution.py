"""`drill solution`."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, SomeId, context

_UNFOLDED = 1_000_000  # columns: code that is to be copied is not folded


def command(
    ctx: typer.Context,
    question: SomeId = None,
    give_up: Annotated[
        bool, typer.Option("--give-up", help="Show it without a pass; this is recorded.")
    ] = False,
    json: Json = False,
) -> None:
    """Show a solution, after a pass."""
    from grader.app.hints import solution
    from grader.reports.page import Page
    from grader.reports.prose import code

    found, source, passed = solution(context(ctx), question, give_up=give_up)
    spec = found.spec
    if json:
        output.document(
            question=found.id,
            passed=passed,
            solution=source,
            follow_ups=[follow_up.model_dump() for follow_up in spec.follow_ups],
            sources=spec.sources,
        )
        return
    output.heading(f"{found.id}  a solution")
    output.write()
    output.show(Page([code(source, _UNFOLDED, indent=0)]))
    if spec.follow_ups:
        output.write()
        output.heading("to think about")
        for follow_up in spec.follow_ups:
            output.write()
            output.prose(follow_up.ask, indent=2)
            output.prose(follow_up.answer, indent=4)
    if spec.sources:
        output.write()
        output.heading("sources")
        output.prose("\n".join(f"- {' '.join(s.split())}" for s in spec.sources), indent=2)
