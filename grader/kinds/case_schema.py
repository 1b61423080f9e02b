"""The JSON Schema of a case and its inputs, from what `grader.cases` reads.

Each generator is an alternative of its own, so that an editor offers the keys that it takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grader.cases import inputs, recipe
from grader.model import extension

Schema = dict[str, Any]

_INPUT = {"$ref": "#/$defs/Input"}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_SHAPE = {
    "anyOf": [
        {"type": "array", "items": {"type": "integer", "minimum": 0}, "maxItems": inputs.MAX_DIMS},
        {"type": "integer", "minimum": 0},
        {"type": "string", "pattern": "^like "},
    ]
}
_TYPES: dict[str, Schema] = {
    "about": {"type": "string"},
    "extends": {"type": "string"},
    "dtype": {"enum": list(inputs.FLOATS)},
    "layout": {"enum": list(inputs.LAYOUTS)},
    "frozen": _TEXTS,
    "limits": {"$ref": "#/$defs/Limits"},
    "where": {"anyOf": [{"type": "string"}, _TEXTS]},
    "draws": {"type": "integer", "minimum": 1, "maximum": recipe.MAX_DRAWS},
}
_MODIFIERS: dict[str, Schema] = {
    "dtype": {"enum": list(inputs.DTYPES)},
    "layout": {"enum": list(inputs.LAYOUTS)},
    "sort": {"type": "boolean"},
    "sprinkle": {
        "type": "object",
        "required": ["value", "share"],
        "additionalProperties": False,
        "properties": {"value": {"type": "number"}, "share": {"type": "number"}},
    },
}


def add(whole: Schema, *, extended: bool) -> None:
    """Say in the schema of a question what may stand in its cases and defaults.

    Args:
        whole: the schema, changed in place.
        extended: with the generators of installed extensions.
    """
    keys = {name: {"description": text} | _TYPES[name] for name, text in recipe.RESERVED.items()}
    about = "A case: keys of its own, and an input under every other."
    case = {"type": "object", "description": about, "properties": keys}
    whole["$defs"] |= {
        "Case": case | {"additionalProperties": _INPUT},
        "Input": {
            "description": "A value as it is, or one generator with its options and modifiers.",
            "anyOf": [
                {"type": ["number", "string", "boolean", "null", "array"]},
                *_generators(extended=extended),
            ],
        },
    }
    whole["properties"]["cases"]["additionalProperties"] = {"$ref": "#/$defs/Case"}
    whole["properties"]["defaults"] |= {
        "properties": {"dtype": keys["dtype"]},
        "additionalProperties": _INPUT,
    }


def _generators(*, extended: bool) -> Iterator[Schema]:
    """One alternative for each."""
    for name, text in inputs.GENERATORS.items():
        yield _alternative(name, text, inputs.OPTIONS.get(name, ()))
    for name in extension.names(extension.INPUTS) if extended else ():
        found = extension.generator(name)
        if found is not None:
            yield _alternative(name, "Of an installed package.", found.options, {})


def _alternative(
    name: str, text: str, options: tuple[str, ...], typed: Schema | None = None
) -> Schema:
    """An input by a generator; its options are numbers unless another schema is given."""
    number = {"type": "number"}
    own = {"type": "array"} if name == "array" else _SHAPE
    return {
        "type": "object",
        "required": [name, *inputs.NEEDED.get(name, ())],
        "additionalProperties": False,
        "properties": {
            name: {"description": text} | own,
            **{option: number if typed is None else typed for option in options},
            **{
                modifier: {"description": about} | _MODIFIERS.get(modifier, number)
                for modifier, about in inputs.MODIFIERS.items()
            },
        },
    }
