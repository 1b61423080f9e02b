"""`drill bank list`."""

from __future__ import annotations

from dataclasses import asdict

import typer

from grader.cli import output
from grader.cli.context import context
from grader.cli.options import Json
from grader.model.numerals import quantity

_FAULTY = 3


def command(ctx: typer.Context, json: Json = False) -> int:
    """List the banks in use, and how many questions each holds."""
    from grader.app.banks import rows

    found = rows(context(ctx))
    status = _FAULTY if any(row.fault for row in found) else 0
    if json:
        banks = [asdict(row) for row in found]
        banks = [row | {"from": row.pop("origin")} for row in banks]
        output.document({"format": 1, "ok": status == 0, "banks": banks})
        return status
    across = max(len(row.name) for row in found)
    for row in found:
        origin = f"from {row.origin}" if row.origin else "comes with the program"
        said = row.fault or f"{quantity(row.questions, 'question')}, {origin}"
        output.write(f"{row.name:<{across}}  {row.path}")
        for line in filter(None, (said, row.hint)):
            output.write(f"{'':<{across}}  {line}")
    return status
