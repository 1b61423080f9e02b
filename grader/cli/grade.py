"""`drill grade`."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, context, ids, minutes_since

if TYPE_CHECKING:
    from grader.app.grading import Graded
    from grader.reports.grade import Around

STATUS = {"pass": 0, "invalid": 3, "internal": 4}  # any other verdict: 1


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
    try:
        with output.waiting() as doing:
            graded = grade(here, question, file=file, seed=seed, parts=parts, doing=doing)
    except NoDrillError as fault:
        if json or not output.is_dialog():
            raise
        name = here.near(fault.path)
        answer = output.ask(f"{name} does not belong to a started drill. Which question is it for?")
        with output.waiting() as doing:
            graded = grade(here, answer, file=Path(SUBMISSION), seed=seed, parts=parts, doing=doing)
    report = graded.report
    if json:
        from grader.reports.json import dumps

        output.write(dumps(report))
    else:
        from grader.reports.grade import page

        around = _around(graded, full=full, explain=explain)
        output.show(page(report, around), rows=around.rows)
    return STATUS.get(report.verdict, 1)


def _around(graded: Graded, *, full: bool, explain: bool) -> Around:
    """Return what stands on the page besides the report: the file, the time, what to type next."""
    from grader.reports.grade import Around
    from grader.reports.question import requested

    new = graded.next_part
    return Around(
        file=_near(graded.path),
        tries=graded.tries,
        time=_time_taken(graded),
        everything=f"drill grade{graded.again} --full",
        steps=_next_steps(graded, explained=explain or full),
        asked=new or 0,
        request=() if new is None else requested(graded.choice.question, new),
        full=full,
        explain=explain,
    )


def _near(path: Path) -> str:
    """Return a file as it is called from the current folder, where that is below or beside it."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):
        return str(path)
    return str(path) if relative.startswith(os.path.join("..", "..")) else relative


def _next_steps(graded: Graded, *, explained: bool) -> tuple[str, ...]:
    """Return what to type next, as the verdict has it: at most three commands."""
    from grader import forms
    from grader.model.report import Verdict  # which nothing but a grade needs

    choice, report = graded.choice, graded.report
    spec = choice.question.spec
    if spec.then and report.checks:  # whatever was predicted
        return (f"drill start {spec.then}{choice.option}",)
    if graded.next_part is not None:
        return (f"drill grade{graded.again}",)
    match report.verdict:
        case Verdict.PASS:
            asks = f"drill solution{choice.argument} --follow-ups"
            more = [asks] * bool(spec.follow_ups)
            return (f"drill solution{choice.argument}", *more, f"drill next{choice.option}")
        case Verdict.INVALID:
            return (f"drill bank audit {choice.called}{choice.option}",)
        case Verdict.INTERNAL:
            return ()
    if not report.checks:  # it never got as far: no hint is about that
        return (f"drill grade{graded.again}",)
    failing = next((c for c in report.checks if c.failing and not c.stretch), None)
    steps = []
    form = forms.of(spec)
    if failing is not None and not (form.is_text or form.apart):  # nothing to run there
        steps.append(f"drill case {shlex.quote(failing.failing[0])}{choice.argument}")
    if graded.hints_left:
        steps.append(f"drill hint{choice.argument}")
    if report.unchanged and not explained:
        steps.append(f"drill grade{graded.again} --explain")
    elif not graded.hints_left:
        steps.append(f"drill solution{choice.argument} --give-up")
    return tuple(steps)


def _time_taken(graded: Graded) -> str:
    """Return the time since the drill was started, and the time planned for it."""
    from grader.model.numerals import span

    workspace = graded.choice.workspace
    minutes = minutes_since(workspace.started_at if workspace else "")
    if minutes is None:
        return ""
    spec = graded.choice.question.spec
    planned = sum(part.minutes for part in spec.parts[: graded.report.parts_passed])
    return f"{span(minutes)} ({planned or spec.minutes} planned)"
