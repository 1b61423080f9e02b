"""`drill class grade`."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import entrypoint, output
from grader.cli.bar import bar
from grader.cli.context import Json, context, ids

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.app.classes import Progress, Tally


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
    shard: Annotated[
        str,
        typer.Option(metavar="I/N", help="Grade one of N equal parts.", show_default=False),
    ] = "",
    executor: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Grade elsewhere: dask, or package.module:function.",
            show_default=False,
        ),
    ] = "",
    scheduler: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Of the Dask cluster.", show_default=False),
    ] = "",
    json: Json = False,
) -> int:
    """Grade a class; begun again, it goes on where it was."""
    from grader.app.classes import Plan, Tally, grade_class
    from grader.classroom.work import shard_of

    plan = Plan(
        submissions, tuple(question or ()), out, seed=seed, level=isolation or "", jobs=jobs,
        layout=layout, pattern=pattern, file=file, executor=executor, scheduler=scheduler,
        shard=shard_of(shard) if shard else (1, 1),
    )  # fmt: skip
    tally = Tally()
    try:
        for one in _shown(grade_class(context(ctx), plan)):
            tally.add(one)
            if json:
                _write_line(one)
    except KeyboardInterrupt:
        output.aside(f"{tally.done} of {tally.of} are kept; begun again, it goes on from there")
        raise
    if not json:
        _sum_up(tally, out)
    return entrypoint.OURS if tally.faults else 0


def _shown(found: Iterator[Progress]) -> Iterator[Progress]:
    """Give what is found; a person at a terminal sees a bar, and above it who did not pass."""
    before = []
    for one in found:
        before.append(one)
        if not one.needs_none:
            break
    yield from before[:-1]
    if not before:
        return
    with bar(before[-1].of, already=len(before) - 1) as step:
        for one in chain(before[-1:], found):
            step(one.done, _line(one))
            yield one


def _line(one: Progress) -> str:
    """Return what is said of a submission as it is done with: nothing where it passes."""
    who = f"{one.handed.student}  {one.handed.question}"
    if one.handed.fault:
        return f"ERROR   {who}  {one.handed.fault}"
    if one.graded is None or one.known:
        return ""
    if one.graded.fault or one.graded.report is None:
        return f"NOT GRADED  {who}  {one.graded.fault}"
    report = one.graded.report
    ideas = ", ".join(idea.id for idea in report.misconceptions)
    passes = report.verdict == "pass"
    return "" if passes else f"{report.verdict.upper():7} {who}  {ideas}".rstrip()


def _write_line(one: Progress) -> None:
    import json
    from dataclasses import asdict

    report = one.graded.report if one.graded else None
    line = {
        "format": 1, "done": one.done, "of": one.of, **asdict(one.handed), "known": one.known,
        "verdict": report.verdict if report else "error" if one.handed.fault else None,
        "points": sum(part.points for part in report.parts) if report else None,
        "misconceptions": [idea.id for idea in report.misconceptions] if report else [],
        "not_graded": one.graded.fault if one.graded else "",
    }  # fmt: skip
    output.write(json.dumps(line))


def _sum_up(tally: Tally, out: Path) -> None:
    for line in tally.lines():
        output.write(line)
    for fault, count in tally.faults.items():
        output.complain(f"not graded, and not the students' fault ({count}): {fault}")
    if tally.faults:
        output.aside("begin it again: what was graded is kept")
    output.write(f"\nNext: drill class report {out}")
