"""The JSON Schema of a case and its inputs, from what `grader.cases` reads.

Each generator is an alternative of its own, so that an editor offers the keys that it takes.
"""

from __future__ import annotations

from typing import Any

from grader.cases import inputs, recipe

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


def add(whole: Schema) -> None:
    """Say in the schema of a question what may stand in its cases and defaults.

    Args:
        whole: the schema, changed in place.
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
                *(_generator(*one) for one in inputs.GENERATORS.items()),
            ],
        },
    }
    whole["properties"]["cases"]["additionalProperties"] = {"$ref": "#/$defs/Case"}
    whole["properties"]["defaults"] |= {
        "properties": {"dtype": keys["dtype"]},
        "additionalProperties": _INPUT,
    }


def _generator(name: str, text: str) -> Schema:
    """An input by a generator; its options are numbers."""
    number = {"type": "number"}
    own = {"type": "array"} if name == "array" else _SHAPE
    return {
        "type": "object",
        "required": [name, *inputs.NEEDED.get(name, ())],
        "additionalProperties": False,
        "properties": {
            name: {"description": text} | own,
            **{option: number for option in inputs.OPTIONS.get(name, ())},
            **{
                modifier: {"description": about} | _MODIFIERS.get(modifier, number)
                for modifier, about in inputs.MODIFIERS.items()
            },
        },
    }
