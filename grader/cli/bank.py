"""`drill bank`, but for its audit."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from grader.cli import entrypoint, output
from grader.cli.context import Json, context
from grader.model.numerals import quantity


def new(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(metavar="ID", show_default=False)],
    oracle: Annotated[
        str | None,
        typer.Option("--from", metavar="FUNCTION", help="Begin from a function of numpy or torch."),
    ] = None,
    one_file: Annotated[
        bool, typer.Option("--one-file", help="Everything in one YAML file.")
    ] = False,
    json: Json = False,
) -> None:
    """Write a question that passes its audit, to begin from."""
    from grader.app.authoring import new

    here = context(ctx)
    made = new(here, question, one_file=one_file, oracle=oracle)
    if json:
        output.document(
            question=question,
            bank=made.bank,
            spec=made.written[0],
            written=made.written,
            todo=made.todo,
        )
        return
    for path in made.written:
        output.write(here.near(path))
    output.write()
    if made.todo:
        marked = quantity(len(made.todo), "place is", "places are")
        output.write(f"{marked} marked TODO in the files\n")
    output.write("next:")
    if made.todo:
        output.write("  replace what is marked TODO; the audit counts what is left of it")
    where = shlex.quote(here.near(made.bank))
    output.write(f"  drill --bank {where} bank audit {question}")
    output.write(f"  drill --bank {where} start {question}")
    output.write(f"  drill bank add {where}")


def add(
    ctx: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="PATH", show_default=False)],
    json: Json = False,
) -> None:
    """Use a bank: a folder, a zip, a wheel or a YAML file."""
    from grader.app.banks import add
    from grader.bank.locate import config_file

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


def remove(
    ctx: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", show_default=False)],
    json: Json = False,
) -> None:
    """Stop using a bank; nothing is deleted."""
    from grader.app.banks import remove
    from grader.bank.locate import config_file

    gone = remove(context(ctx), path)
    if json:
        output.document(removed=gone, list=config_file())
    else:
        output.write(f"{gone[0]} is no longer in use; it is left where it is")


def list_(ctx: typer.Context, json: Json = False) -> int:
    """List the banks in use, and how many questions each holds."""
    from grader.app.banks import rows

    found = rows(context(ctx))
    status = entrypoint.FAULTY if any(row.fault for row in found) else 0
    if json:
        banks = [asdict(row) for row in found]
        output.document(ok=status == 0, banks=[row | {"from": row.pop("origin")} for row in banks])
        return status
    across = max(len(row.name) for row in found)
    for row in found:
        origin = f"from {row.origin}" if row.origin else "comes with the program"
        state = row.fault or f"{quantity(row.questions, 'question')}, {origin}"
        output.named(row.name, across, row.path, state, row.hint)
    return status


def schema() -> None:
    """Print the JSON Schema of a question, for editors."""
    from grader.bank.schema import text

    # With the kinds of installed extensions.
    output.write(text(extended=True).rstrip("\n"))
