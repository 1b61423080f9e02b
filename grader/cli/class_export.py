"""`drill class export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from grader.cli import output


def _file(help: str) -> Any:  # noqa: ANN401 - as typer has it
    return typer.Option(metavar="FILE", help=help, show_default=False)


def command(
    results: Annotated[Path, typer.Argument(help="What drill class grade has written.")],
    csv: Annotated[Path | None, _file("A table for spreadsheets.")] = None,
    jsonl: Annotated[Path | None, _file("A line of JSON each, the report in it.")] = None,
    junit: Annotated[Path | None, _file("JUnit XML.")] = None,
    gradescope: Annotated[Path | None, _file("results.json of one student.")] = None,
    student: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of this one alone.", show_default=False)
    ] = None,
    wide: Annotated[bool, typer.Option("--wide", help="CSV: one row per student.")] = False,
) -> None:
    """Write what a class earned for other programs."""
    from grader.classroom.disk import write_whole
    from grader.classroom.export import export
    from grader.classroom.results import Results
    from grader.model.errors import UsageError

    wanted = {"csv": csv, "jsonl": jsonl, "junit": junit, "gradescope": gradescope}
    files = {name: file for name, file in wanted.items() if file is not None}
    if not files:
        listed = ", ".join(f"--{name}" for name in wanted)
        raise UsageError("expected a format, found none", hint=f"one or more of {listed}")
    if wide and csv is None:
        raise UsageError("--wide is for --csv")
    if [str(file) for file in files.values()].count("-") > 1:
        raise UsageError("expected one format on standard output, found several")
    with Results(results) as found:
        for name, file in files.items():
            pieces = export(found, name, student=student, wide=wide)
            if str(file) == "-":
                output.pieces(pieces)
            else:
                write_whole(file, pieces)
                output.info(f"{file}: written")
