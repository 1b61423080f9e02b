"""The JSON Schema of a case and its inputs, from what `grader.cases` reads."""

from __future__ import annotations

from typing import Any

from grader.cases import inputs, recipe

Schema = dict[str, Any]

_NUMBER: Schema = {"type": "number"}
_SHAPE: Schema = {
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
    "frozen": {"type": "array", "items": {"type": "string"}},
    "limits": {"$ref": "#/$defs/Limits"},
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
        "properties": {"value": _NUMBER, "share": _NUMBER},
    },
}


def add(whole: Schema) -> None:
    """Say in the schema of a question, in place, what may stand in its cases and defaults."""
    keys = {name: {"description": text} | _TYPES[name] for name, text in recipe.RESERVED.items()}
    given = [_generator(*one) for one in inputs.GENERATORS.items()]
    whole["$defs"] |= {
        "Case": {
            "description": "A case: keys of its own, and an input under every other.",
            "type": "object",
            "properties": keys,
            "additionalProperties": {"$ref": "#/$defs/Input"},
        },
        "Input": {
            "description": "A value as it is, or one generator with its options and modifiers.",
            "anyOf": [{"type": ["number", "string", "boolean", "null", "array"]}, *given],
        },
    }
    whole["properties"]["cases"]["additionalProperties"] = {"$ref": "#/$defs/Case"}
    whole["properties"]["defaults"] |= {
        "properties": {"dtype": keys["dtype"]},
        "additionalProperties": {"$ref": "#/$defs/Input"},
    }


def _generator(name: str, text: str) -> Schema:
    """An input by a generator; its options are numbers."""
    own = {"type": "array"} if name == "array" else _SHAPE
    options = dict.fromkeys(inputs.OPTIONS.get(name, ()), _NUMBER)
    modifiers = {
        modifier: {"description": about} | _MODIFIERS.get(modifier, _NUMBER)
        for modifier, about in inputs.MODIFIERS.items()
    }
    return {
        "type": "object",
        "required": [name, *inputs.NEEDED.get(name, ())],
        "additionalProperties": False,
        "properties": {name: {"description": text} | own, **options, **modifiers},
    }
