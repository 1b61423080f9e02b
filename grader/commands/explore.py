"""`drill explore`: memory and work of a model, for settings such as batch=8 that a person tries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

from grader.commands import output
from grader.commands.options import JsonOption, argument, option, require_page_path
from grader.costs import MODELS
from grader.costs.formulas import CostModel, Settings
from grader.model.errors import UsageError, did_you_mean

T = TypeVar("T")
MAX_SHOWN_LENGTH = 40  # characters of a wrong word in a message
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,30}")


class ExploredModel(NamedTuple):
    """A model, the settings that the person asked for, and the valid settings that are counted."""

    model: CostModel
    preset: str
    requested: Settings
    counted: Settings  # as requested, but invalid ones are replaced
    notes: list[str]  # a sentence on each replacement


def explore_model(
    name: str, assignments: Iterable[str] = (), *, preset: str | None = None
) -> ExploredModel:
    """Return a model with the settings of a preset (default: its first), changed by assignments.

    An assignment is a text such as "batch=8".  UsageError for an unknown name, and for a value that
    is not one of the setting's words, or not a whole number if the setting has no words.
    """
    model = _find("model", name, MODELS)
    preset = preset or next(iter(model.presets))
    requested = dict(_find("preset", preset, model.presets))
    settings = {setting.name: setting for setting in model.settings}
    for assignment in assignments:
        setting_name, equals, word = assignment.partition("=")
        if not equals:
            shown = assignment[:MAX_SHOWN_LENGTH]
            raise UsageError(f"--set: expected NAME=VALUE, such as batch=8, found {shown}")
        words = _find("setting", setting_name, settings).words
        if words:
            _find(setting_name, word, words)
            requested[setting_name] = word
        elif _WHOLE_NUMBER.fullmatch(word):
            requested[setting_name] = int(word)
        else:
            shown = word[:MAX_SHOWN_LENGTH]
            raise UsageError(f"--set {setting_name}: expected a whole number, found {shown}")
    counted, notes = model.resolve_settings(requested)
    return ExploredModel(model, preset, requested, counted, notes)


def write_page(explored: ExploredModel, path: Path) -> None:
    """Write an HTML page with the costs, on which its reader can change the settings."""
    from grader.bank.bank_files import write_atomically
    from grader.reports import costs
    from grader.reports.html import html_page

    model = explored.model
    body, script = costs.html(model, explored.counted, explored.notes)
    write_atomically(path, html_page(f"What a model costs: {model.name}", [body], script))


def _find(what: str, name: str, values: Mapping[str, T]) -> T:
    if name not in values:
        shown = name[:MAX_SHOWN_LENGTH]
        raise UsageError(
            f"no {what} {shown}{did_you_mean(shown, values)}", hint=f"one of {', '.join(values)}"
        )
    return values[name]


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
    from grader.reports import costs

    require_page_path(html)
    explored = explore_model(model, set_ or (), preset=preset)
    if html:
        write_page(explored, html)
    if json:
        document = costs.to_json(explored.model, explored.counted)
        output.write_json(**document, notes=explored.notes)
    elif html:
        for note in explored.notes:
            output.write(note)
        output.write(f"the page is in {html}; any browser shows it, and it fetches nothing")
    elif output.can_redraw() and not set_:
        from grader.commands.explore_screen import Explorer, show_explorer

        show_explorer(Explorer(explored.model, explored.requested))
    else:
        page = costs.page(explored.model, explored.preset, explored.counted, explored.notes)
        output.show_page(page, paged=True)
