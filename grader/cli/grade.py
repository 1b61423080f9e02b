"""`drill grade`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, context, ids, minutes_since
from grader.model.numerals import span
from grader.model.verdict import Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

    from grader.app.grading import Graded
    from grader.app.resolve import Choice
    from grader.model.report import Report

STATUS = {Verdict.PASS: 0, Verdict.INVALID: 3, Verdict.INTERNAL: 4}  # any other verdict: 1


def command(
    ctx: typer.Context,
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="ID|PATH",
            help="The question, or the drill's folder or file; without it, the drill of this"
            " folder, else the one started last.",
            autocompletion=ids,
            show_default=False,
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Grade this file instead; it is no try of yours."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Repeat the cases of a grade."),
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option(metavar="N,N", help="The parts that count, such as 1,2; else all."),
    ] = None,
    json: Json = False,
) -> int:
    """Grade your submission: 0 it passes, 1 it does not."""
    from grader.app.grading import grade

    shown: list[Report] = []

    def show(graded: Graded) -> None:
        if not json:
            _warn(graded)
            output.show(_page(graded))
            shown.append(graded.report)

    graded = grade(context(ctx), question, file=file, seed=seed, parts=parts, early=show)
    report = graded.report
    if not shown:
        _warn(graded)
    if json:
        from grader.reports.json import dumps

        output.write(dumps(report))
    elif not shown:
        output.show(_page(graded))
    elif graded.next_part is None:
        from grader.reports.terminal import render_rest

        rest = render_rest(shown[0], report, width=output.width())
        if rest is not None:
            output.write("")
            output.show(rest)
    return STATUS.get(report.verdict, 1)


def _warn(graded: Graded) -> None:
    """Say so where the same seed need not give the same numbers."""
    if graded.changed_since is not None:
        output.complain(
            f"{graded.choice.question.id} has changed since attempt {graded.changed_since}, which"
            f" had the seed {graded.report.seed}: its numbers need not be the same"
        )


def _page(graded: Graded) -> RenderableType:
    """Return the page of a grade."""
    from grader.reports.terminal import render_passed, render_report

    if graded.next_part is not None:
        question, number = graded.choice.question, graded.next_part
        return render_passed(
            graded.report, question, number, width=output.width(), filename=graded.path.name
        )
    return render_report(
        graded.report,
        width=output.width(),
        repeat=f"drill grade{graded.again} --seed {graded.report.seed}",
        footer=_next_steps(graded),
        heading_note=f"try {graded.tries}" if graded.tries else "",
        pass_note=_time_taken(graded.choice),
        filename=graded.path.name,
    )


def _next_steps(graded: Graded) -> list[str]:
    """Return what to do next, as the verdict has it."""
    choice = graded.choice
    match graded.report.verdict:
        case Verdict.PASS:
            return [f"drill solution{choice.argument} to compare"]
        case Verdict.INVALID:
            command = f"drill bank audit {choice.called}{choice.option}"
            return [f"{command} shows what is wrong with the question"]
        case Verdict.INTERNAL:
            return []
        case _ if graded.hints_left:
            return [f"drill hint{choice.argument} for a nudge"]
    return [f"drill solution{choice.argument} --give-up shows a solution"]


def _time_taken(choice: Choice) -> str:
    """Return the time since the drill was started, and the time planned for it."""
    minutes = minutes_since(choice.workspace.started_at if choice.workspace else "")
    if minutes is None:
        return ""
    return f"{span(minutes)} since start ({choice.question.spec.minutes} planned)"
