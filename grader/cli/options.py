"""Arguments and options that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.cli import completion

FAULTY = 3  # the exit status where a bank is at fault

Id = Annotated[str, typer.Argument(metavar="ID", autocompletion=completion.ids)]
SomeId = Annotated[
    str | None,
    typer.Argument(
        metavar="ID",
        help="The question; without it, that of this folder, else the one started last.",
        autocompletion=completion.ids,
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
