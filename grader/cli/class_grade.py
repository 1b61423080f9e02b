"""`drill class grade`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli import entrypoint, output
from grader.cli.context import Json, context, ids


def command(
    ctx: typer.Context,
    submissions: Annotated[Path, typer.Argument(help="A folder, or a zip file.")],
    question: Annotated[
        list[str], typer.Option(metavar="ID", autocompletion=ids, help="What they answer.")
    ],
    out: Annotated[Path, typer.Option(metavar="RESULTS", help="Where the verdicts are kept.")],
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Grades at once; as many as cores if not given."),
    ] = None,
    isolation: Annotated[
        str, typer.Option(metavar="LEVEL", help="At least strong, limited or process.")
    ] = "strong",
    seed: Annotated[int | None, typer.Option(min=0, help="From which inputs are drawn.")] = None,
    json: Json = False,
) -> int:
    """Grade a class; start it again, and it goes on where it was."""
    from grader.app.classes import Plan, grade_class

    plan = Plan(submissions, tuple(question), out, seed=seed, level=isolation, jobs=jobs)
    faults = 0
    for one in grade_class(context(ctx), plan):
        report = one.graded.report if one.graded else None
        faults += one.graded is not None and not one.graded.settled
        if json:
            output.document(done=one.done, of=one.of, student=one.handed.student)
        else:
            output.write(
                f"{one.done}/{one.of} {one.handed.student} {one.handed.question} "
                f"{report.verdict if report else one.handed.fault or 'known'}"
            )
    return entrypoint.FAULTY if faults else 0
