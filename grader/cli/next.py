"""`drill next`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from grader.cli import output
from grader.cli.context import Json, context
from grader.reports import sheet

if TYPE_CHECKING:
    from grader.app.catalog import Suggested
    from grader.app.context import Context


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
        output.lines(
            ["Every question is passed.", sheet.steps(f"drill list{here.option}", "drill history")]
        )
        return
    first, *others = found
    output.lines(
        [
            sheet.bold(first.header.called, f"{sheet.GAP}{first.reason}"),
            *(f"Then: {one.header.called} ({one.reason})" for one in others[:1]),
            sheet.steps(*_commands(here, first)),
        ]
    )


def _commands(here: Context, one: Suggested) -> list[str]:
    if one.folder is None:
        return [f"drill start {one.header.called}{here.option}"]
    if one.folder == here.folder:
        return [f"drill grade{here.option}"]
    return [f"cd {here.typed(one.folder)}", f"drill grade{here.option}"]
