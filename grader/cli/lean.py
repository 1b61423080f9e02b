"""Typer without pydantic where there is next to nothing to convert.

Typer converts every value of a command line through pydantic, also the None of an option that
was not given, and importing pydantic takes longer than the rest of a start-up together.  `drill
grade` needs pydantic, but only once its workers are starting.

Only `get_params`, `process_value` and `type_descriptor` (there from 0.29 on) are relied on;
pyproject.toml bounds the version of typer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any  # typer keeps the class of a parameter to itself


def spare(command: Any) -> None:  # noqa: ANN401 - see above
    """Make a command and those below it skip needless conversions."""
    get_params = command.get_params

    def get_spared(ctx: object) -> object:
        found = get_params(ctx)  # with the one of --help, which is made at the first call
        for parameter in found:
            if "process_value" not in vars(parameter):
                _spare_one(parameter)
        return found

    command.get_params = get_spared
    for below in getattr(command, "commands", {}).values():
        spare(below)


def _spare_one(parameter: Any) -> None:  # noqa: ANN401 - see above
    convert = parameter.process_value
    several = parameter.nargs != 1 or getattr(parameter, "multiple", False)
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)

    def process_value(ctx: object, value: Any) -> object:  # noqa: ANN401 - see above
        if several or (parameter.required and value is None):
            return convert(ctx, value)
        if kind in {str, Path} and value is not None:
            value = kind(value)
        elif value is not None and not isinstance(value, bool):
            return convert(ctx, value)
        return value if parameter.callback is None else parameter.callback(ctx, parameter, value)

    parameter.process_value = process_value
