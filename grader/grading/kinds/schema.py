"""The JSON Schema of a question, with which editors complete and check a spec."""

from __future__ import annotations

import json
from typing import Any

from grader.cases import recipe
from grader.grading.kinds.registry import KINDS, spec_model
from grader.model.limits import MAX_DRAWS
from grader.model.spec import PART_KEYS, Check

Schema = dict[str, Any]

_NUMBER: Schema = {"type": "number"}
_SHAPE: Schema = {
    "anyOf": [
        {"type": "array", "items": {"type": "integer", "minimum": 0}, "maxItems": recipe.MAX_DIMS},
        {"type": "integer", "minimum": 0},
        {"type": "string", "pattern": "^like "},
    ]
}
_CASE_KEY_TYPES: dict[str, Schema] = {
    "about": {"type": "string"},
    "extends": {"type": "string"},
    "dtype": {"enum": list(recipe.FLOATS)},
    "layout": {"enum": list(recipe.LAYOUTS)},
    "frozen": {"type": "array", "items": {"type": "string"}},
    "limits": {"$ref": "#/$defs/Limits"},
    "draws": {"type": "integer", "minimum": 1, "maximum": MAX_DRAWS},
}
_MODIFIER_TYPES: dict[str, Schema] = {
    "dtype": {"enum": list(recipe.DTYPES)},
    "layout": {"enum": list(recipe.LAYOUTS)},
    "sort": {"type": "boolean"},
    "sprinkle": {
        "type": "object",
        "required": ["value", "share"],
        "additionalProperties": False,
        "properties": {"value": _NUMBER, "share": _NUMBER},
    },
}


def question_schema() -> str:
    """Return the schema as the text of a file."""
    schema: Schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    schema |= _with_checked_names(spec_model(KINDS).model_json_schema())
    part = schema["$defs"]["Part"]
    _allow_part_keys(schema, part)
    number = schema["$defs"]["FollowUp"]["properties"]["number"]
    number["anyOf"] = [{"type": number.pop("type")}, _NUMBER]
    del number["maxLength"]  # `{arithmetic}` may be longer than its number
    _add_cases(schema)
    _describe_kinds(schema)
    checks = part["properties"]["checks"]
    checks["items"] = {"anyOf": [{"type": "string", "enum": list(KINDS)}, checks["items"]]}
    return json.dumps(schema, indent=2) + "\n"


def _with_checked_names(value: Any) -> Any:  # noqa: ANN401 any JSON value
    """Return a schema in which a key of a mapping must match the mapping's pattern for keys.

    pydantic writes `patternProperties`, which allows a key that does not match, with any value.
    """
    if isinstance(value, list):
        return [_with_checked_names(item) for item in value]
    if not isinstance(value, dict):
        return value
    schema = {key: _with_checked_names(item) for key, item in value.items()}
    if "patternProperties" in schema:
        ((pattern, item),) = schema.pop("patternProperties").items()
        schema |= {"propertyNames": {"pattern": pattern}, "additionalProperties": item}
    return schema


def _allow_part_keys(schema: Schema, part: Schema) -> None:
    """Allow a question to have the keys of its only part, in place of the key `parts`."""
    schema["properties"] |= {key: part["properties"][key] for key in PART_KEYS}
    schema["required"].remove("parts")
    required = [key for key in PART_KEYS if key in part["required"]]
    schema["oneOf"] = [{"required": ["parts"]}, {"required": required}]


def _describe_kinds(schema: Schema) -> None:
    """Describe the key `kind` in every kind of check, and make it optional for `outputs`."""
    description = Check.model_fields["kind"].description
    for definition in schema["$defs"].values():
        kind = definition.get("properties", {}).get("kind", {})
        if "const" in kind:
            kind["description"] = description
            if kind["const"] == "outputs":
                definition["required"].remove("kind")


def _add_cases(schema: Schema) -> None:
    """Add the keys of cases and defaults to the schema of a question."""
    keys = {
        name: {"description": text} | _CASE_KEY_TYPES[name]
        for name, text in recipe.RESERVED.items()
    }
    generators = [_generator(name, text) for name, text in recipe.GENERATORS.items()]
    schema["$defs"] |= {
        "Case": {
            "description": "A case: keys of its own, and an input under every other.",
            "type": "object",
            "properties": keys,
            "additionalProperties": {"$ref": "#/$defs/Input"},
        },
        "Input": {
            "description": "A value as it is, or one generator with its options and modifiers.",
            "anyOf": [{"type": ["number", "string", "boolean", "null", "array"]}, *generators],
        },
    }
    row: Schema = {"type": "array", "items": {"$ref": "#/$defs/Input"}}
    cases = schema["properties"]["cases"]
    cases["additionalProperties"] = {"anyOf": [{"$ref": "#/$defs/Case"}, row]}
    schema["properties"]["defaults"] |= {
        "properties": {"dtype": keys["dtype"]},
        "additionalProperties": {"$ref": "#/$defs/Input"},
    }


def _generator(name: str, text: str) -> Schema:
    """Return the schema of an input with this generator; its options are numbers."""
    value_type = {"type": "array"} if name == "array" else _SHAPE
    options = dict.fromkeys(recipe.OPTIONS.get(name, ()), _NUMBER)
    modifiers = {
        modifier: {"description": about} | _MODIFIER_TYPES.get(modifier, _NUMBER)
        for modifier, about in recipe.MODIFIERS.items()
    }
    return {
        "type": "object",
        "required": [name, *recipe.REQUIRED_OPTIONS.get(name, ())],
        "additionalProperties": False,
        "properties": {name: {"description": text} | value_type, **options, **modifiers},
    }
