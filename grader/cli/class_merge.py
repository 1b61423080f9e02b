"""`drill class merge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli import output


def command(
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="Where all of it goes.", show_default=False)
    ],
    results: Annotated[
        list[Path],
        typer.Argument(metavar="RESULTS...", help="What shards have graded.", show_default=False),
    ],
) -> None:
    """Bring together what several machines have graded."""
    from grader.classroom.merging import merge
    from grader.model.numerals import quantity

    found = merge(out, results)
    output.write(f"{quantity(found.files, 'submission')}, {quantity(found.added, 'verdict')} added")
    output.write(f"\nNext: drill class report {out}")
