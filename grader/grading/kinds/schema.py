"""The JSON Schema of a question, by which editors complete and check a spec."""

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
_TYPES: dict[str, Schema] = {
    "about": {"type": "string"},
    "extends": {"type": "string"},
    "dtype": {"enum": list(recipe.FLOATS)},
    "layout": {"enum": list(recipe.LAYOUTS)},
    "frozen": {"type": "array", "items": {"type": "string"}},
    "limits": {"$ref": "#/$defs/Limits"},
    "draws": {"type": "integer", "minimum": 1, "maximum": MAX_DRAWS},
}
_MODIFIERS: dict[str, Schema] = {
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
    """The schema, as it is written into a file."""
    whole: Schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    whole |= _with_names_checked(spec_model(KINDS).model_json_schema())
    # A question of one part has the keys of the part itself.
    part = whole["$defs"]["Part"]
    whole["properties"] |= {key: part["properties"][key] for key in PART_KEYS}
    whole["required"].remove("parts")
    needed = [key for key in PART_KEYS if key in part["required"]]
    whole["oneOf"] = [{"required": ["parts"]}, {"required": needed}]
    number = whole["$defs"]["FollowUp"]["properties"]["number"]
    number["anyOf"] = [{"type": number.pop("type")}, _NUMBER]
    del number["maxLength"]  # `{arithmetic}` may be longer than its number
    _add_cases(whole)
    kind = Check.model_fields["kind"].description
    for found in whole["$defs"].values():
        if "const" in found.get("properties", {}).get("kind", ()):
            found["properties"]["kind"] |= {"description": kind}
            if found["properties"]["kind"]["const"] == "outputs":
                found["required"].remove("kind")
    checks = part["properties"]["checks"]
    checks["items"] = {"anyOf": [{"type": "string", "enum": list(KINDS)}, checks["items"]]}
    return json.dumps(whole, indent=2) + "\n"


def _with_names_checked(part: Any) -> Any:  # noqa: ANN401 whatever JSON holds
    """A schema in which a name that does not fit its pattern is wrong; pydantic lets it pass."""
    if isinstance(part, list):
        return [_with_names_checked(one) for one in part]
    if not isinstance(part, dict):
        return part
    found = {key: _with_names_checked(value) for key, value in part.items()}
    if "patternProperties" in found:
        ((pattern, value),) = found.pop("patternProperties").items()
        found |= {"propertyNames": {"pattern": pattern}, "additionalProperties": value}
    return found


def _add_cases(whole: Schema) -> None:
    """Say in the schema of a question, in place, what may stand in its cases and defaults."""
    keys = {name: {"description": text} | _TYPES[name] for name, text in recipe.RESERVED.items()}
    given = [_generator(*one) for one in recipe.GENERATORS.items()]
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
    row: Schema = {"type": "array", "items": {"$ref": "#/$defs/Input"}}
    cases = whole["properties"]["cases"]
    cases["additionalProperties"] = {"anyOf": [{"$ref": "#/$defs/Case"}, row]}
    whole["properties"]["defaults"] |= {
        "properties": {"dtype": keys["dtype"]},
        "additionalProperties": {"$ref": "#/$defs/Input"},
    }


def _generator(name: str, text: str) -> Schema:
    """An input by a generator; its options are numbers."""
    own = {"type": "array"} if name == "array" else _SHAPE
    options = dict.fromkeys(recipe.OPTIONS.get(name, ()), _NUMBER)
    modifiers = {
        modifier: {"description": about} | _MODIFIERS.get(modifier, _NUMBER)
        for modifier, about in recipe.MODIFIERS.items()
    }
    return {
        "type": "object",
        "required": [name, *recipe.REQUIRED_OPTIONS.get(name, ())],
        "additionalProperties": False,
        "properties": {name: {"description": text} | own, **options, **modifiers},
    }
