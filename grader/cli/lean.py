"""Typer without pydantic where there is nothing to convert.

Typer converts every value of a command line through pydantic, also the None of an option that
was not given, and importing pydantic takes longer than the rest of a start-up together: `drill
list` takes 0.73 of the time of a five-line typer app with this, 1.17 without.

Only `get_params` and `process_value` are relied on; were they to go, a command would be slower
and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol


class Parameter(Protocol):
    """What is used of a parameter; typer keeps the class itself to itself."""

    callback: Callable[..., object] | None
    required: bool
    nargs: int
    process_value: Callable[..., object]


def spare(command: object) -> None:
    """Make a command and those below it skip needless conversions."""
    get_params: Callable[..., Sequence[Parameter]] | None = getattr(command, "get_params", None)
    if get_params is None:
        return
    spared: set[int] = set()

    def get_spared(ctx: object) -> Sequence[Parameter]:
        found = get_params(ctx)
        for parameter in found:
            if id(parameter) not in spared:
                spared.add(id(parameter))
                _spare_one(parameter)
        return found

    setattr(command, "get_params", get_spared)  # noqa: B010 - a method of somebody else's class
    for below in getattr(command, "commands", {}).values():
        spare(below)


def _spare_one(parameter: Parameter) -> None:
    convert = parameter.process_value
    single = parameter.nargs == 1 and not getattr(parameter, "multiple", False)

    def process_value(ctx: object, value: object) -> object:
        given = value is not None and not isinstance(value, bool)
        if given or parameter.required or not single:
            return convert(ctx, value)
        return value if parameter.callback is None else parameter.callback(ctx, parameter, value)

    parameter.process_value = process_value
