"""`drill class grade`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import entrypoint, output
from grader.cli.bar import Step, bar
from grader.cli.context import Json, context, ids

if TYPE_CHECKING:
    from grader.app.classes import ClassProgress, Tally


def command(
    ctx: typer.Context,
    submissions: Annotated[
        Path, typer.Argument(help="A folder or a zip file.", show_default=False)
    ],
    out: Annotated[
        Path,
        typer.Option(metavar="RESULTS", help="Where the verdicts are kept.", show_default=False),
    ],
    question: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", autocompletion=ids, help="What they answer."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--class", metavar="FILE", help="A class.yaml: questions, parts, weights, deadline."
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Grades at once; as many as cores if not given."),
    ] = None,
    isolation: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="At least strong (if not given), limited or process."),
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", min=0, help="Draws the inputs.")] = None,
    layout: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How files are laid out, where that does not show.",
            show_default=False,
        ),
    ] = "",
    pattern: Annotated[
        str,
        typer.Option(
            metavar="PATH", help="Their paths, like '{student}/{question}.py'.", show_default=False
        ),
    ] = "",
    scheduler: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Grade on this Dask cluster.", show_default=False),
    ] = "",
    json: Json = False,
) -> int:
    """Grade a class; begun again, it goes on where it was."""
    from grader.app.classes import ClassPlan, Tally, grade_class

    if scheduler:
        import logging

        logging.disable()  # what goes wrong there is said in a sentence, not in its tracebacks

    plan = ClassPlan(
        submissions, tuple(question or ()), out, seed=seed, level=isolation or "", jobs=jobs,
        layout=layout, pattern=pattern, file=file, scheduler=scheduler,
    )  # fmt: skip
    tally = Tally()
    step: Step = lambda _done, _line: None  # noqa: E731 - the bar's, as soon as there is one
    with ExitStack() as stack:

        def begin(done: int, of: int) -> None:
            """Draw the bar: how far it is, and above it who did not pass."""
            nonlocal step
            tally.of = of
            step = stack.enter_context(bar(of, already=done))

        try:
            for one in grade_class(context(ctx), plan, begin):
                tally.add(one)
                step(one.done, _line(one))
                if json:
                    _write_line(one)
        except KeyboardInterrupt:
            stack.close()
            kept = f"{tally.done} of {tally.of} are kept"
            output.info(f"{kept}; begun again, it goes on from there")
            raise
    if not json:
        _sum_up(tally, out)
    return entrypoint.EXIT_GRADER_FAULT if tally.faults else 0


def _line(one: ClassProgress) -> str:
    """Return what is said of a submission as it is done with: nothing where it passes."""
    entry = one.entry
    who = f"{entry.handed.student}  {entry.handed.question}"
    if entry.handed.fault:
        return f"ERROR   {who}  {entry.handed.fault}"
    if one.known:
        return ""
    if entry.report is None:
        return f"NOT GRADED  {who}  {entry.note}"
    report = entry.report
    ideas = ", ".join(idea.id for idea in report.misconceptions)
    if report.unchanged:
        ideas = "the starter, unchanged"
    passes = report.verdict == "pass"
    return "" if passes else f"{report.verdict.upper():7} {who}  {ideas}".rstrip()


def _write_line(one: ClassProgress) -> None:
    import json
    from dataclasses import asdict

    entry = one.entry
    report = entry.report
    line = {
        "format": 1, "done": one.done, "of": one.of, **asdict(entry.handed), "known": one.known,
        "verdict": report.verdict if report else "error" if entry.handed.fault else None,
        "points": entry.points,
        "misconceptions": [idea.id for idea in report.misconceptions] if report else [],
        "not_graded": entry.note if entry.points is None else "",
    }  # fmt: skip
    output.write(json.dumps(line))


def _sum_up(tally: Tally, out: Path) -> None:
    for line in tally.lines():
        output.write(line)
    for fault, count in tally.faults.items():
        output.warn(f"not graded, and not the students' fault ({count}): {fault}")
    if tally.faults:
        output.info("begin it again: what was graded is kept")
    output.write(f"\nNext: drill class report {out}")
