"""`drill class report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import Json


def command(
    results: Annotated[Path, typer.Argument(help="What drill class grade has written.")],
    json: Json = False,
) -> None:
    """Show who passed what, and which ideas a class holds."""
    from grader.app.reporting import report_class

    found = report_class(results)
    if json:
        from grader.reports.json import findings_to_json

        output.document(**findings_to_json(found))
        return
    from grader.reports.class_tables import class_lines

    lines = class_lines(
        found, width=output.measure(), results=str(results), plain=output.manner.plain
    )
    output.lines(lines, paged=True)
