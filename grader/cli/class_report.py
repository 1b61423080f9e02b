"""`drill class report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import Json


def command(
    results: Annotated[Path, typer.Argument(help="What drill class grade has written.")],
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page that stands alone.", show_default=False),
    ] = None,
    feedback: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write a page for each student to read.", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show who passed what, and which ideas a class holds."""
    from grader.app.reporting import report_class
    from grader.classroom.feedback import write_feedback
    from grader.classroom.page import class_blocks, summary
    from grader.classroom.results import Results
    from grader.model.numerals import quantity
    from grader.reports.blocks import render_terminal, render_text

    if feedback is not None:
        with Results(results) as read:
            students, changed = write_feedback(read, feedback)
        if json and html is None:
            output.document(students=students, changed=changed)
        else:
            files = quantity(changed, "file")
            output.write(f"{quantity(students, 'student')}, {files} written in {feedback}")
        if html is None:
            return
    found = report_class(results, html=html)
    if json:
        from grader.reports.json import plain

        output.document(**plain(found))
    elif html is not None:
        output.write(summary(found))
        output.write(f"the page is in {html}")
    elif output.style.plain:
        output.write(render_text(class_blocks(found, str(results)), aloud=True).rstrip("\n"))
    else:
        blocks = list(class_blocks(found, str(results)))
        output.lines(render_terminal(blocks, output.width()), paged=True)
