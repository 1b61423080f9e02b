"""`drill explore`: what a model costs, to play with."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from grader.commands import output
from grader.commands.options import JsonOption, argument, option, require_page_path


def explore(
    model: Annotated[str, argument("MODEL", "transformer (if not given) or mlp.")] = "transformer",
    preset: Annotated[str | None, option("NAME", "Begin with its sizes: 7b, 70b, ...")] = None,
    set_: Annotated[
        list[str] | None, option("NAME=VALUE", "Set this, and print what it costs.", "--set")
    ] = None,
    html: Annotated[Path | None, option("FILE", "Write a page to play with in a browser.")] = None,
    json: JsonOption = False,
) -> None:
    """Play with the sizes of a model: shapes, memory, work."""
    from grader.commands.exploring import explore as explored
    from grader.reports import costs

    require_page_path(html)
    found = explored(model, set_ or (), preset=preset, html=html)
    full_screen = not set_ and output.is_dialog() and not output.style.plain
    if json:
        output.write_json(**costs.to_json(found.model, found.taken), notes=found.notes)
    elif html:
        for note in found.notes:
            output.write(note)
        output.write(f"the page is in {html}; any browser shows it, and it fetches nothing")
    elif full_screen and os.environ.get("TERM") != "dumb" and find_spec("textual") is not None:
        from grader.commands.explore_screen import Explorer

        Explorer(found.model, found.wanted, reverse=not os.environ.get("NO_COLOR")).run()
    else:
        output.show_page(
            costs.page(found.model, found.preset, found.taken, found.notes), paged=True
        )
        if full_screen and find_spec("textual") is None:
            output.warn(
                "setting sizes with arrows needs textual", "pip install 'drill-dl[explore]'"
            )
