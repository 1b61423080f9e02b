"""`drill bank remove`."""

from __future__ import annotations

from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, context


def command(
    ctx: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", show_default=False)],
    json: Json = False,
) -> None:
    """Stop using a bank; nothing is deleted."""
    from grader.app.banks import remove
    from grader.bank import config_file

    gone = remove(context(ctx), path)
    if json:
        output.document(removed=gone, list=config_file())
    else:
        output.write(f"{gone[0]} is no longer in use; it is left where it is")
