"""`drill next`."""

from __future__ import annotations

import typer

from grader.cli import output
from grader.cli.context import Json, context
from grader.reports import sheet


def command(ctx: typer.Context, json: Json = False) -> None:
    """Say what to do next, and why."""
    from grader.app.catalog import suggestions

    here = context(ctx)
    found = suggestions(here)
    if json:
        rows = [
            {"question": one.header.called, "reason": one.reason, "folder": one.folder}
            for one in found[:2]
        ]
        output.document(next=rows[0] if rows else None, then=rows[1] if rows[1:] else None)
        return
    if not found:
        output.write("Every question is passed.")
        output.steps(f"drill list{here.option}", "drill history")
        return
    first, *others = found
    output.lines([sheet.bold(first.header.called, f"{sheet.GAP}{first.reason}")])
    for one in others[:1]:
        output.write(f"Then: {one.header.called} ({one.reason})")
    if first.folder is None:
        output.steps(f"drill start {first.header.called}{here.option}")
    else:
        there = [] if first.folder == here.folder else [f"cd {here.typed(first.folder)}"]
        output.steps(*there, f"drill grade{here.option}")
