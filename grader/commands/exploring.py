"""What a model costs where a person sets its sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from grader.costs import MODELS
from grader.costs.formulas import CostModel, Settings
from grader.model.errors import UsageError, did_you_mean

T = TypeVar("T")


class ExploredModel(NamedTuple):
    """A model, what was asked for, what is counted instead of what cannot be, and why."""

    model: CostModel
    preset: str
    wanted: Settings
    taken: Settings
    notes: list[str]


def explore(
    name: str, assigned: Iterable[str] = (), *, preset: str | None = None, html: Path | None = None
) -> ExploredModel:
    """Return a model with these settings, NAME=VALUE, on a preset; write a page if asked."""
    model = _known("model", name, MODELS)
    preset = preset or next(iter(model.presets))
    wanted = dict(_known("preset", preset, model.presets))
    settings = {one.name: one for one in model.settings}
    for text in assigned:
        setting, equals, word = text.partition("=")
        if not equals:
            raise UsageError(f"--set: expected NAME=VALUE, such as batch=8, found {text[:40]}")
        known = _known("setting", setting, settings)
        if known.words:
            _known(setting, word, known.words)
        elif not re.fullmatch(r"-?[0-9]{1,30}", word):
            raise UsageError(f"--set {setting}: expected a whole number, found {word[:40]}")
        wanted[setting] = word if known.words else int(word)
    taken, notes = model.resolve_settings(wanted)
    if html:
        from grader.bank.bank_files import write_atomically
        from grader.reports import costs
        from grader.reports.html import html_page

        body, script = costs.html(model, taken, notes)
        write_atomically(html, html_page(f"What a model costs: {name}", [body], script))
    return ExploredModel(model, preset, wanted, taken, notes)


def _known(what: str, name: str, known: Mapping[str, T]) -> T:
    if name not in known:
        near = did_you_mean(name[:40], known)
        raise UsageError(f"no {what} {name[:40]}{near}", hint=f"one of {', '.join(known)}")
    return known[name]
