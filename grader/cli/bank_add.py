"""`drill bank add`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, context
from grader.model.numerals import quantity


def command(
    ctx: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="PATH", show_default=False)],
    json: Json = False,
) -> None:
    """Use a bank: a folder or a YAML file."""
    from grader.app.banks import add
    from grader.bank import config_file

    found = add(context(ctx), path)
    if json:
        data = asdict(found)
        del data["shared"]
        output.document(**data, list=config_file())
        return
    state = "is in use already" if found.already else "is in use from now on"
    output.write(f"{found.name}  {found.bank}")
    output.write(f"{quantity(found.questions, 'question')}; it {state}")
    for name, count in found.shared.items():
        which = quantity(count, "id is", "ids are")
        output.write(f"{which} in {name} too: type {found.name}/ID or {name}/ID")
