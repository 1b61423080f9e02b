"""`drill grade`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, context, ids
from grader.cli.waiting import Waiting
from grader.model.verdict import Verdict

if TYPE_CHECKING:
    from grader.app.grading import Graded

STATUS = {Verdict.PASS: 0, Verdict.INVALID: 3, Verdict.INTERNAL: 4}  # any other verdict: 1


def command(
    ctx: typer.Context,
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="ID|PATH",
            help="The question, or the drill's folder or file; without it, the drill of this"
            " folder.",
            autocompletion=ids,
            show_default=False,
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Grade this file instead; not an attempt of yours."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Repeat the cases of a grade."),
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option(metavar="N,N", help="The parts that count, such as 1,2; else all."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Print everything that was found, however long.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain an untouched starter, too.")
    ] = False,
    json: Json = False,
) -> int:
    """Grade your submission: 0 it passes, 1 it does not."""
    from grader.app.grading import grade
    from grader.app.resolve import NoDrillError
    from grader.app.workspace import SUBMISSION

    here = context(ctx)
    with Waiting() as waiting:

        def graded_for(target: str | None, file: Path | None) -> Graded:
            return grade(here, target, file=file, seed=seed, parts=parts, doing=doing)

        def doing(what: str) -> None:
            waiting.say(what, at_once=what == "loading torch")

        try:
            graded = graded_for(question, file)
        except NoDrillError as fault:
            waiting.stop()
            if json or not output.is_dialog():
                raise
            name = here.near(fault.path)
            what = f"{name} does not belong to a started drill. Which question is it for?"
            graded = graded_for(output.ask(what), Path(SUBMISSION))
    report = graded.report
    if json:
        from grader.reports.json import dumps

        _warn(graded)
        output.write(dumps(report))
    else:
        from grader.cli.grade_page import around
        from grader.reports import terminal

        here_is = around(graded, full=full, explain=explain, plain=output.style.plain)
        _warn(graded)
        output.show(terminal.render_report(report, width=output.width(), around=here_is))
    return STATUS.get(report.verdict, 1)


def _warn(graded: Graded) -> None:
    """Say so where the same seed need not give the same numbers."""
    if graded.changed_since is not None:
        output.warn(
            f"{graded.choice.question.id} has changed since attempt {graded.changed_since}, which"
            f" had the seed {graded.report.seed}: its numbers need not be the same"
        )
