"""What pydantic finds wrong in a file, in words: expected, found, and what was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from grader.bank.yaml_document import DocumentPath, SpecError, shorten
from grader.grading.kinds import registry
from grader.model.errors import closest_word, did_you_mean
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
_SHARES = {"relative", "within"}  # keys of a number below 1
_PERCENT = re.compile(r"([1-9]\d?(?:\.\d+)?|0?\.\d+(?= *%)) *(%?)")
_PATTERNS = {  # those of names apart
    "^[0-9]{1,3}$": "the number of a line",
    "^[a-z0-9]$": "a lower-case letter or a digit",
}


def validation_errors(
    error: ValidationError, data: Mapping[str, Any], model: type[BaseModel]
) -> list[SpecError]:
    """What is wrong with data of a model, or of `Spec` as `unified` makes it of a question's.

    Left out are those that only say that another branch did not match, and keys that are missing
    because they are misspelled.
    """
    found: dict[DocumentPath, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False)[
        : 2 * MAX_YAML_PROBLEMS
    ]:  # what follows squares them
        found.setdefault(_keys_of(detail, data), []).append(detail)
    # Where one branch of a union got further than another, the other has nothing to add.
    deepest = {
        at: group
        for at, group in found.items()
        if not any(other != at and other[: len(at)] == at for other in found)
    }
    known = {
        at: _known_keys(model, group[0]["loc"])
        for at, group in deepest.items()
        if group[0]["type"] == "extra_forbidden"
    }
    meant = {(*at[:-1], closest_word(str(at[-1]), names)) for at, names in known.items()}
    meant |= {("parts", 0, *at) for at in meant if len(at) == 1}
    return [
        (at, _unknown(str(at[-1]), known[at]) if at in known else _unlike(at, group, model))
        for at, group in deepest.items()
        if at in known or at not in meant
    ]


def _keys_of(detail: ErrorDetails, data: Any) -> DocumentPath:  # noqa: ANN401 parsed YAML
    """The path in the file: pydantic's names of union members are not in it."""
    path: list[str | int] = []
    here = data
    for step in detail["loc"]:
        with suppress(LookupError, TypeError):
            here = here[step]
            path.append(step)
    lacks = {"missing": detail["loc"][-1], "union_tag_invalid": "kind"}.get(detail["type"])
    return tuple(path) if lacks is None else (*path, lacks)


def _known_keys(model: type[BaseModel], loc: tuple[str | int, ...]) -> list[str]:
    """The keys that are known where pydantic found another one."""
    models = [model]
    for step in loc[:-1]:
        fields = [info for one in models for key, info in _fields(one) if key == step]
        if step in registry.KINDS:  # the name of a member of the union of checks
            models = [registry.kind_named(str(step)).keys]
        elif fields:
            models = [one for info in fields for one in _models_in(info.annotation)]
    found = [key for one in models for key, _ in _fields(one)]
    return [*found, *PART_KEYS] if models == [Spec] else found


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, Any]]:
    """The keys of a mapping as they are written, with what is known of them."""
    return ((info.alias or name, info) for name, info in model.model_fields.items())


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 any type
    """The mappings that a key may hold, alone, in a list or by name."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for one in get_args(annotation):
        yield from _models_in(one)


def _unknown(key: str, known: list[str]) -> str:
    hint = did_you_mean(key, known) or f"; known keys: {', '.join(known)}"
    if " " in key.strip():  # {about: one, two}: the second half became a key
        hint = "; is it the end of a text? A text that holds a comma needs quotes here"
    elif key.isdigit():
        hint = "; is it the end of a number? Write 0.03 and 7000, without a comma"
    elif key in known:
        hint = "; it is a key of a part here"
    return f"found an unknown key{hint}"


def _unlike(at: DocumentPath, group: list[ErrorDetails], model: type[BaseModel]) -> str:
    """What was expected, what was found, and what was meant, if that is near."""
    kind, value = group[0]["type"], group[0]["input"]
    if kind == "missing":
        return f"expected the key {at[-1]!r}, found none"
    if kind == "union_tag_invalid":
        near = did_you_mean(value["kind"], registry.KINDS)
        return f"expected one of {', '.join(registry.KINDS)}, found {value['kind']!r}{near}"
    expected = " or ".join(dict.fromkeys(map(_expected, group)))
    advice = ""
    if expected == "a mapping" and (keys := _known_keys(model, (*group[0]["loc"], ""))):
        expected += f" of {', '.join(keys)}"
    if expected == "text" and isinstance(value, dict) and len(value) == 1:
        advice = "; a text that holds ': ' needs quotes"  # - Note: this
    elif (share := _PERCENT.fullmatch(str(value))) and (share[2] or at[-1] in _SHARES):
        percent = float(share[1])
        key = ", as relative" if at[-1] == "absolute" else ""
        advice = f"; write {percent / 100:g} for {percent:g} %{key}"
    elif isinstance(value, str):
        allowed = [d["ctx"]["expected"] for d in group if d["type"] == "literal_error"]
        advice = did_you_mean(value, re.findall(r"'([^']*)'", " ".join(allowed)))
    return f"expected {expected}, found {_found(value)}{advice}"


def _expected(detail: ErrorDetails) -> str:
    """What pydantic would have liked, in words."""
    kind, context = detail["type"].replace("int_from_float", "int_type"), detail.get("ctx", {})
    if kind == "literal_error":
        allowed = str(context["expected"]).replace("'', ", "")
        return f"one of {allowed}" if "or" in allowed else allowed
    if kind == "string_pattern_mismatch":
        named = "A-Z" in (pattern := str(context["pattern"]))
        words = "`idea NAME`" if "idea " in pattern else "lower-case words joined by hyphens"
        return "a name (letters, digits, _)" if named else _PATTERNS.get(pattern, words)
    own = detail["msg"].removeprefix("Input should be ")
    text = _EXPECTED[kind].format(**context) if kind in _EXPECTED else own
    return text.replace("at least 1 entries", "at least one entry")


def _found(value: object) -> str:
    """A value of YAML in words, short."""
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"a mapping with {', '.join(map(str, list(value)[:4])) or 'no keys'}"
    if value is None or isinstance(value, bool):
        return "nothing" if value is None else f"the word {str(value).lower()!r}"
    return f"the text {shorten(value)!r}" if isinstance(value, str) else f"the number {value!r}"
