"""`drill progress`: what is passed and due, what was believed, and the days of a year."""

from __future__ import annotations

from dataclasses import asdict

import typer

from grader.commands import output
from grader.commands.options import JsonOption, command_context


def progress(ctx: typer.Context, json: JsonOption = False) -> None:
    """Show what is passed and due, your ideas, and a year of days."""
    from grader.commands.practice import summarize_practice
    from grader.reports.practice import BLOCKS, CHARACTERS, ROWS, practice_page

    here = command_context(ctx)
    found = summarize_practice(here)
    days = {day.isoformat(): tries for day, tries in found.days.items()}
    tracks, ideas = ([*map(asdict, some)] for some in (found.tracks, found.ideas))
    if output.emit_json(json, tracks=tracks, ideas=ideas, days=days):
        return
    due = any(one.due for one in found.tracks)
    steps = (f"drill next{here.bank_option}", *[f"drill list{here.bank_option} --due"] * due)
    marks = BLOCKS if output.can_show(BLOCKS) else CHARACTERS
    output.show_page(practice_page(found, steps, marks), rows=max(output.rows() - 1, ROWS))
