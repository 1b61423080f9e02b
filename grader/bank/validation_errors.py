"""Errors of pydantic as sentences: expected, found, and a likely correction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from grader.bank.yaml_document import shorten
from grader.grading.kinds import registry
from grader.model.errors import KeyPath, SpecError, closest_word, did_you_mean
from grader.model.limits import MAX_YAML_PROBLEMS
from grader.model.spec import PART_KEYS, Spec

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
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
    "less_than": "a number below {lt}",
    "less_than_equal": "a number of at most {le}",
    "string_too_long": "text of at most {max_length} characters",
}
_EXPECTED_BY_PATTERN = {  # unless it is the pattern of a name
    "^[0-9]{1,3}$": "the number of a line",
    "^[a-z0-9]$": "a lower-case letter or a digit",
}
_FRACTION_KEYS = {"relative", "within"}  # their numbers are below 1
_PERCENT = re.compile(r"([1-9]\d?(?:\.\d+)?|0?\.\d+(?= *%)) *(%?)")


def validation_errors(
    error: ValidationError, data: Mapping[str, Any], model: type[BaseModel]
) -> list[SpecError]:
    """Return errors of pydantic as faults, each with its path in the data.

    The data of a spec comes from `normalize_spec`.  Two kinds of errors are left out: another
    branch of a union did not match, and a key is missing because it is misspelled.
    """
    by_path: dict[KeyPath, list[ErrorDetails]] = {}
    # Further errors are left out, because the work grows with the square of their number.
    for detail in error.errors(include_url=False)[: 2 * MAX_YAML_PROBLEMS]:
        by_path.setdefault(_path_in_file(detail, data), []).append(detail)
    deepest = _without_shallow_branches(by_path)
    unknown_keys: dict[KeyPath, str] = {}  # a sentence on each
    intended: set[KeyPath] = set()  # the paths of the keys that were probably meant
    for path, details in deepest.items():
        if details[0]["type"] == "extra_forbidden":
            *parents, key = path
            keys = _known_keys(model, details[0]["loc"])
            unknown_keys[path] = _unknown_key_text(str(key), keys)
            if near := closest_word(str(key), keys):
                intended.add((*parents, near))
                if not parents:
                    intended.add(("parts", 0, near))
    faults: list[SpecError] = []
    for path, details in deepest.items():
        if path in unknown_keys:
            faults.append((path, unknown_keys[path]))
        elif path not in intended:
            faults.append((path, _wrong_value_text(path, details, model)))
    return faults


def _without_shallow_branches(
    by_path: Mapping[KeyPath, list[ErrorDetails]],
) -> dict[KeyPath, list[ErrorDetails]]:
    """Return the errors without those that have another error below them.

    They come from members of a union that the author did not mean.
    """
    return {
        path: details
        for path, details in by_path.items()
        if not any(other != path and other[: len(path)] == path for other in by_path)
    }


def _path_in_file(detail: ErrorDetails, data: Any) -> KeyPath:  # noqa: ANN401 parsed YAML
    """Return the path of an error in the file, without pydantic's names of union members."""
    path: list[str | int] = []
    value = data
    for step in detail["loc"]:
        with suppress(LookupError, TypeError):
            value = value[step]
            path.append(step)
    if detail["type"] == "missing":
        path.append(detail["loc"][-1])
    elif detail["type"] == "union_tag_invalid":
        path.append("kind")
    return tuple(path)


def _known_keys(model: type[BaseModel], loc: tuple[str | int, ...]) -> list[str]:
    """Return the keys that a mapping may have, given the path of one of its keys."""
    models = [model]
    for step in loc[:-1]:
        fields = [info for parent in models for key, info in _fields(parent) if key == step]
        if step in registry.KINDS:  # the name of a member of the union of checks
            models = [registry.kind_named(str(step)).check_model]
        elif fields:
            models = [child for info in fields for child in _models_in(info.annotation)]
    keys = [key for parent in models for key, _ in _fields(parent)]
    return [*keys, *PART_KEYS] if models == [Spec] else keys


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, Any]]:
    """Yield the keys of a model as YAML has them, with their fields in pydantic."""
    for name, info in model.model_fields.items():
        yield info.alias or name, info


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 any type
    """Yield the pydantic models in the type of a key, also those inside lists and mappings."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)


def _unknown_key_text(key: str, known_keys: list[str]) -> str:
    if " " in key.strip():  # {about: one, two}: the second half became a key
        hint = "; is it the end of a text? A text that holds a comma needs quotes here"
    elif key.isdigit():
        hint = "; is it the end of a number? Write 0.03 and 7000, without a comma"
    elif key in known_keys:
        hint = "; it is a key of a part here"
    else:
        hint = did_you_mean(key, known_keys) or f"; known keys: {', '.join(known_keys)}"
    return f"found an unknown key{hint}"


def _wrong_value_text(path: KeyPath, details: list[ErrorDetails], model: type[BaseModel]) -> str:
    """Return a sentence: the expected and the actual value, and a likely correction."""
    error_type = details[0]["type"]
    value = details[0]["input"]
    if error_type == "missing":
        return f"expected the key {path[-1]!r}, found none"
    if error_type == "union_tag_invalid":
        near = did_you_mean(value["kind"], registry.KINDS)
        return f"expected one of {', '.join(registry.KINDS)}, found {value['kind']!r}{near}"
    expected = " or ".join(dict.fromkeys(_expected_text(detail) for detail in details))
    advice = _advice(path, details, expected)
    if expected == "a mapping" and (keys := _known_keys(model, (*details[0]["loc"], ""))):
        expected += f" of {', '.join(keys)}"
    return f"expected {expected}, found {_value_in_words(value)}{advice}"


def _advice(path: KeyPath, details: list[ErrorDetails], expected: str) -> str:
    """Return the end of a sentence that says how to write a value, or ""."""
    value = details[0]["input"]
    if expected == "text" and isinstance(value, dict) and len(value) == 1:
        return "; a text that holds ': ' needs quotes"  # - Note: this
    percent = _PERCENT.fullmatch(str(value))
    if percent and (percent[2] or path[-1] in _FRACTION_KEYS):
        number = float(percent[1])
        key = ", as relative" if path[-1] == "absolute" else ""
        return f"; write {number / 100:g} for {number:g} %{key}"
    if isinstance(value, str):
        literals = [d["ctx"]["expected"] for d in details if d["type"] == "literal_error"]
        return did_you_mean(value, re.findall(r"'([^']*)'", " ".join(literals)))
    return ""


def _expected_text(detail: ErrorDetails) -> str:
    """Return a noun phrase for the value that pydantic expected."""
    error_type = detail["type"].replace("int_from_float", "int_type")
    context = detail.get("ctx", {})
    if error_type == "literal_error":
        literals = str(context["expected"]).replace("'', ", "")
        return f"one of {literals}" if "or" in literals else literals
    if error_type == "string_pattern_mismatch":
        return _expected_by_pattern(str(context["pattern"]))
    if error_type not in _EXPECTED:
        text = detail["msg"].removeprefix("Input should be ")
    else:
        text = _EXPECTED[error_type].format(**context)
    return text.replace("at least 1 entries", "at least one entry")


def _expected_by_pattern(pattern: str) -> str:
    if "A-Z" in pattern:
        return "a name (letters, digits, _)"
    if "idea " in pattern:
        return "`idea NAME`"
    return _EXPECTED_BY_PATTERN.get(pattern, "lower-case words joined by hyphens")


def _value_in_words(value: object) -> str:
    """Return a short description of a YAML value."""
    match value:
        case list():
            return f"a list of {len(value)}"
        case dict():
            return f"a mapping with {', '.join(map(str, list(value)[:4])) or 'no keys'}"
        case None:
            return "nothing"
        case bool():
            return f"the word {str(value).lower()!r}"
        case str():
            return f"the text {shorten(value)!r}"
    return f"the number {value!r}"
