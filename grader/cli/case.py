"""`drill case`."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, Seed, SomeId, argument, cases, context, option
from grader.reports import sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.app.casing import Case
    from grader.app.context import Context

MOST_LINES = 16  # of a script on the page; its file has them all


def case(
    ctx: typer.Context,
    name: Annotated[
        str | None, argument("NAME", "Else all are listed.", autocompletion=cases)
    ] = None,
    question: SomeId = None,
    run: Annotated[str | None, option("RUN", "These calls, where it has several.")] = None,
    seed: Seed = None,
    debug: Annotated[bool, typer.Option("--debug", "--pdb", help="Run it in pdb.")] = False,
    json: Json = False,
) -> None:
    """Write a case as a script, to run it by hand."""
    from grader.app import casing

    here = context(ctx)
    if name is None:
        choice, found = casing.cases(here, question)
        if json:
            output.document(question=choice.question.id, cases=[asdict(one) for one in found])
            return
        rows = [(one.case, "fails" * one.failing, one.about) for one in found]
        output.table(("case", "last try", "about"), rows, long="about")
        return
    made = casing.case(here, name, question, run=run, seed=seed)
    if json:
        output.document(
            question=made.choice.question.id, case=made.case, about=made.about,
            checks=made.checks, run=made.run, other_runs=made.other_runs, seed=made.seed,
            drawn=made.drawn, script=made.script.text, path=made.path, kept=made.kept,
        )  # fmt: skip
        return
    if debug and made.path is not None:
        output.flush()
        # Become pdb, which stops where the first function is entered.
        words = ["-m", "pdb", "-c", f"until {made.script.first_call}", "-c", "step", "-c", "step"]
        os.execv(sys.executable, [sys.executable, *words, str(made.path)])
    output.lines(_page(here, made))


def _page(here: Context, made: Case) -> Iterator[sheet.Line]:
    about = f": {made.about}" if made.about else ""
    seed = f" Seed {made.seed}." if made.drawn else ""
    other = f" Other calls: --run {' or '.join(made.other_runs)}." if made.other_runs else ""
    said = f"{made.case}{about}. Checked by: {', '.join(made.checks)}.{other}{seed}"
    yield from sheet.wrapped(said, output.measure(), indent="    ")
    lines = made.script.body.rstrip("\n").split("\n")
    most = MOST_LINES if made.path is not None else len(lines)
    yield from (f"  {line}" for line in lines[:most])
    if len(lines) > most:
        yield f"  ... {len(lines) - most} more lines in the file"
    if made.path is None:
        yield sheet.steps(f"drill start {made.choice.called}{made.choice.option}")
        return
    if made.kept is not None:
        yield f"The script that was there is {here.near(made.kept)} now"
    python = "python" if shutil.which("python") else "python3"
    wrote = f"Wrote {here.near(made.path)}{sheet.GAP}"
    yield ((wrote, ""), *sheet.steps(f"{python} {here.typed(made.path)}"))
