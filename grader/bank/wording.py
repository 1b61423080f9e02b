"""What pydantic finds wrong in a file, in words: where, what was expected, what was found."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from grader.bank.document import MAX_PROBLEMS, Keys, dotted, shortened
from grader.model.errors import did_you_mean

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "finite_number": "a finite number",
    "string_too_short": "some text",
    "too_short": "at least {min_length} entries",
    "too_long": "at most {max_length} entries",
    "union_tag_not_found": "a mapping with the key 'kind'",
    "greater_than": "a number above {gt}",
    "greater_than_equal": "a number of at least {ge}",
    "less_than_equal": "a number of at most {le}",
    "string_too_long": "text of at most {max_length} characters",
}


def grouped(error: ValidationError, data: object) -> dict[Keys, list[ErrorDetails]]:
    """The faults by place, those left out that only say that another branch did not match."""
    found: dict[Keys, list[ErrorDetails]] = {}
    for detail in error.errors()[: 2 * MAX_PROBLEMS]:  # what follows takes their square
        found.setdefault(_keys_of(detail, data), []).append(detail)
    # Where one branch of a union got further than another, the other has nothing to add.
    return {
        at: group
        for at, group in found.items()
        if not any(other != at and other[: len(at)] == at for other in found)
    }


def unlike(at: Keys, group: list[ErrorDetails]) -> str:
    """What was expected at a place, what was found, and what was meant, if that is near."""
    value = group[0]["input"]
    expected = " or ".join(dict.fromkeys(_expected(detail) for detail in group))
    advice = ""
    if expected == "text" and isinstance(value, dict) and len(value) == 1:
        advice = "; a text that holds ': ' needs quotes"  # - Note: this
    elif isinstance(value, str):
        allowed = [d["ctx"]["expected"] for d in group if d["type"] == "literal_error"]
        advice = did_you_mean(value, re.findall(r"'([^']*)'", " ".join(allowed)))
    return f"{dotted(at)}: expected {expected}, found {_found(value)}{advice}"


def fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The keys of a mapping as they are written."""
    return {info.alias or name: info for name, info in model.model_fields.items()}


def model_in(annotation: Any) -> type[BaseModel] | None:  # noqa: ANN401 any type
    """The mapping that a key holds, alone, in a list or by name."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(model_in, get_args(annotation))), None)


def _keys_of(detail: ErrorDetails, data: Any) -> Keys:  # noqa: ANN401 parsed YAML
    """The path in the file: pydantic's names of union members are not in it."""
    path: list[str | int] = []
    here = data
    for step in detail["loc"]:
        with suppress(LookupError, TypeError):
            here = here[step]
            path.append(step)
    return (*path, detail["loc"][-1]) if detail["type"] == "missing" else tuple(path)


def _expected(detail: ErrorDetails) -> str:
    """What pydantic would have liked, in words."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "literal_error":
        allowed = str(context["expected"])
        return f"one of {allowed}" if "or" in allowed else allowed
    if kind == "string_pattern_mismatch":
        named = "A-Z" in str(context["pattern"])
        return "a name (letters, digits, _)" if named else "lower-case words joined by hyphens"
    if kind not in _EXPECTED:
        return detail["msg"]
    return _EXPECTED[kind].format(**context).replace("at least 1 entries", "at least one entry")


def _found(value: object) -> str:
    """A value in words, short."""
    match value:
        case None:
            return "nothing"
        case bool():
            return f"the word {str(value).lower()!r}"
        case int() | float():
            return f"the number {value!r}"
        case str():
            return f"the text {shortened(value)!r}"
        case list():
            return f"a list of {len(value)}"
        case dict():
            return f"a mapping with {', '.join(map(str, list(value)[:4])) or 'no keys'}"
    return f"a {type(value).__name__}"
