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
    from grader.app.reporting import report_class, write_page

    if feedback is not None:
        _tell(results, feedback, json=json and html is None)
        if html is None:
            return
    found = report_class(results) if html is None else write_page(results, html)
    if json:
        from grader.reports.json import findings_to_json

        output.document(**findings_to_json(found))
    elif html is not None:
        from grader.reports.class_words import summary

        output.write(summary(found))
        output.write(f"the page is in {html}")
    else:
        from grader.reports.class_tables import class_lines

        said = class_lines(
            found,
            width=output.measure(),
            window=output.width(),
            results=str(results),
            plain=output.style.plain,
        )
        output.lines(said, paged=True)


def _tell(results: Path, folder: Path, *, json: bool) -> None:
    from grader.app.feedback import write_feedback
    from grader.classroom.results import Results
    from grader.model.numerals import quantity

    written = write_feedback(Results(results), folder)
    if json:
        output.document(students=written.students, changed=written.changed)
    else:
        files = quantity(written.changed, "file")
        output.write(f"{quantity(written.students, 'student')}, {files} written in {folder}")
