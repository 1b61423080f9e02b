"""`drill bank list`."""

from __future__ import annotations

from dataclasses import asdict

import typer

from grader.cli import entrypoint, output
from grader.cli.context import Json, context
from grader.model.numerals import quantity


def command(ctx: typer.Context, json: Json = False) -> int:
    """List the banks in use, and how many questions each holds."""
    from grader.app.banks import in_use

    found = in_use(context(ctx))
    status = entrypoint.EXIT_BANK_FAULT if any(row.fault for row in found) else 0
    if json:
        banks = [asdict(row) for row in found]
        output.document(ok=status == 0, banks=[row | {"from": row.pop("origin")} for row in banks])
        return status
    across = max(len(row.name) for row in found)
    for row in found:
        origin = f"from {row.origin}" if row.origin else "comes with the program"
        state = row.fault or f"{quantity(row.questions, 'question')}, {origin}"
        for number, line in enumerate(filter(None, [row.path, state, row.hint])):
            output.write(f"{'' if number else row.name:<{across}}  {line}")
    return status
