"""`drill bank add`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import context
from grader.cli.options import Json
from grader.model.numerals import quantity


def command(
    ctx: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="PATH", show_default=False)],
    json: Json = False,
) -> int:
    """Use a bank: a folder, a zip, a wheel or a YAML file."""
    from grader.app.banks import add
    from grader.bank.locate import config_file

    found = add(context(ctx), path)
    if json:
        output.document(
            {
                "format": 1,
                "bank": found.bank,
                "name": found.name,
                "questions": found.questions,
                "already": found.already,
                "list": config_file(),
            }
        )
        return 0
    state = "is in use already" if found.already else "is in use from now on"
    output.write(f"{found.name}  {found.bank}")
    output.write(f"{quantity(found.questions, 'question')}; it {state}")
    for name, count in found.shared.items():
        which = quantity(count, "id is", "ids are")
        output.write(f"{which} in {name} too: type {found.name}/ID or {name}/ID")
    return 0
