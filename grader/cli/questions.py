"""`drill list`, `show`, `start`, `reset`, `hint` and `solution`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import context
from grader.cli.options import Id, Json, SomeId, tracks
from grader.model.numerals import quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from grader.model.question import Header
    from grader.records.progress import Progress

_LEVEL_FROM = 72  # columns of a window in which there is room for it after the title
_UNFOLDED = 1_000_000  # columns: code that is to be copied is not folded


def list_(
    ctx: typer.Context,
    track: Annotated[
        str | None,
        typer.Option(metavar="TRACK", help="Only this track.", autocompletion=tracks),
    ] = None,
    json: Json = False,
) -> None:
    """List the questions, and how far you are with each."""
    from grader.app.catalog import questions

    found = questions(context(ctx), track)
    if json:
        names = ("id", "called", "title", "track", "level", "minutes", "bank")
        rows = [
            {name: getattr(header, name) for name in names}
            | {"state": yours.state, "tries": yours.tries}
            for header, yours in found
        ]
        output.document(questions=rows)
    elif found:
        output.show(_table(found))
    else:
        output.write("no questions: the banks that were found hold none")


def _table(found: Sequence[tuple[Header, Progress]]) -> Table:
    """Return the questions as a table, a heading for each track."""
    narrow = output.width() < _LEVEL_FROM
    result = output.table()
    result.add_column("question", no_wrap=True)
    result.add_column("title", min_width=10 if narrow else 20)
    if not narrow:
        result.add_column("level", no_wrap=True)
    result.add_column("min", justify="right", no_wrap=True)
    result.add_column("you", no_wrap=True)
    track = None
    for header, yours in found:
        if header.track != track:
            track = header.track
            result.add_row(f"\n{track}", style="bold")
        tries = quantity(yours.tries, "try", "tries")
        result.add_row(
            f"  {header.called}",
            header.title,
            *([] if narrow else [header.level]),
            str(header.minutes),
            tries if yours.state == "tried" else yours.state,
            style="dim" if yours.passed else "",
        )
    return result


def show(ctx: typer.Context, question: Id, json: Json = False) -> None:
    """Show a question without starting it."""
    found = context(ctx).load(question)
    if not json:
        from grader.reports.question import render_question

        output.show(render_question(found, output.width()))
        output.write(f"\ndrill start {question} makes a folder for it")
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
        checks=[{"id": c.id, "kind": c.kind, "about": c.about} for c in spec.checks],
        hints=len(spec.hints),
    )


def start(
    ctx: typer.Context,
    question: Id,
    dir_: Annotated[
        Path | None,
        typer.Option("--dir", metavar="DIR", help="Where to make the drill's folder."),
    ] = None,
    json: Json = False,
) -> None:
    """Make a folder with a drill; never over anything."""
    from grader.app.starting import start
    from grader.app.workspace import SUBMISSION
    from grader.reports.question import render_question

    here = context(ctx)
    found, made = start(here, question, parent=dir_)
    if json:
        output.document(
            question=found.id,
            folder=made.workspace.folder,
            submission=made.workspace.submission,
            already_started=made.already,
            started_at=made.workspace.started_at,
            written=made.written,
        )
        return
    shown = here.near(made.workspace.submission)
    output.show(render_question(found, output.width()))
    output.write()
    if made.already and SUBMISSION not in made.written:
        output.write(f"already started: {shown} is yours and was left as it is")
    else:
        output.write(f"edit {shown}, then: drill grade")


def reset(ctx: typer.Context, question: SomeId = None, json: Json = False) -> None:
    """Put the starter back; a copy of your file is kept."""
    from grader.app.starting import reset

    here = context(ctx)
    found, path, copy = reset(here, question)
    if json:
        output.document(question=found.id, submission=path, kept=copy)
        return
    output.write(f"{here.near(path)} is the starter{' again' if copy else ''}")
    if copy is not None:
        output.write(f"what was there is kept in {here.near(copy)}")


def hint(
    ctx: typer.Context,
    question: SomeId = None,
    number: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="This one, whatever was shown before.")
    ] = None,
    json: Json = False,
) -> None:
    """Show one more hint."""
    from grader.app.hints import hint

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
        output.write(f"hint {n} of {len(found.spec.hints)}")
        output.prose(text, indent=4)
    output.write()
    if given.left:
        # Where nothing can be recorded, the next one has to be asked for.
        which = "" if given.counted else f" --number {given.shown[-1][0] + 1}"
        output.write(f"{quantity(given.left, 'more hint')}: drill hint{argument}{which}")
    else:
        again = "these were all the hints" if given.all else "that was the last hint"
        output.write(f"{again}; drill solution{argument} --give-up shows the solution")


def solution(
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
    from grader.reports.prose import Code

    found = solution(context(ctx), question, give_up=give_up)
    spec = found.question.spec
    if json:
        output.document(
            question=found.question.id,
            passed=found.passed,
            solution=found.source,
            follow_ups=[follow_up.model_dump() for follow_up in spec.follow_ups],
            sources=spec.sources,
        )
        return
    output.heading(f"{found.question.id}  a solution")
    output.write()
    output.show(Page([Code(found.source, _UNFOLDED, indent=0)]))
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
