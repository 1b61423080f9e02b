"""`drill run`."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, SomeId, context


def command(
    ctx: typer.Context,
    question: SomeId = None,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Run it with this seed; that of the log is 0.")
    ] = 0,
    json: Json = False,
) -> int:
    """Run the script of a diagnosis once: 0 it ends, 1 it does not."""
    from grader.app.experiments import run
    from grader.reports.grade import run_page

    begun: list[str] = []

    def began(number: int, budget: int) -> None:
        begun.append(f"run {number} of {budget}" if number else "this run")

    try:
        made = run(context(ctx), question, seed=seed, began=began)
    except KeyboardInterrupt:
        said = f"{begun[0]} was stopped, and counts" if begun else "no run was begun"
        output.info(f"drill: {said}")
        raise
    ran, asked, name = made.ran, made.asked, made.path.name
    status = int(bool(ran.fault))
    if json:
        from grader.reports.json import run_to_json

        output.document(
            question=made.choice.question.id, run=made.number, used=made.used,
            budget=asked.budget, seed=seed, **run_to_json(ran),
        )  # fmt: skip
        return status
    head = f"run {made.number} of {asked.budget}" if made.number else "run, not counted"
    output.show(run_page(ran, f"{head}, seed {seed}", filename=name))
    left = asked.budget - made.used
    again = [f"drill run{made.choice.argument}"] if left else []
    output.steps(*again, f"drill grade{made.choice.argument}", after=f"{left} left")
    return status
