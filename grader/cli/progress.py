"""`drill progress`: what is passed and due, what was believed, and the days of a year."""

from __future__ import annotations

from dataclasses import asdict

import typer

from grader.cli import output
from grader.cli.context import Json, context


def progress(ctx: typer.Context, json: Json = False) -> None:
    """Show what is passed and due, your ideas, and a year of days."""
    from grader.app.practice import practice
    from grader.reports.practice import BLOCKS, CHARACTERS, ROWS, page

    here = context(ctx)
    found = practice(here)
    days = {day.isoformat(): tries for day, tries in found.days.items()}
    tracks, ideas = ([*map(asdict, some)] for some in (found.tracks, found.ideas))
    if output.answer(json, tracks=tracks, ideas=ideas, days=days):
        return
    due = any(one.due for one in found.tracks)
    steps = (f"drill next{here.option}", *[f"drill list{here.option} --due"] * due)
    marks = BLOCKS if output.can_show(BLOCKS) else CHARACTERS
    output.show(page(found, steps, marks), rows=max(output.rows() - 1, ROWS))
