"""Validate a document against the model, and say every fault in words with its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from grader.bank.document import MAX_PROBLEMS, Document, Keys, Problem, dotted
from grader.bank.locate import closest
from grader.bank.recovery import LeftOut, without
from grader.kinds import registry
from grader.model.spec import Check, Spec

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
    "too_short": "at least one entry",
    "union_tag_not_found": "a mapping with the key 'kind'",
}


def validate(doc: Document) -> tuple[Spec | None, list[Problem], LeftOut]:
    """Turn a document into a spec.

    Returns:
        The spec, without the parts that are wrong where there are some (None where nothing can be
        said without them); what is wrong; and what was left out.
    """
    problems = list(doc.problems)
    kinds, unusable = registry.used(doc.data)
    model_of_spec = registry.spec_model(*kinds.values())
    try:
        return model_of_spec.model_validate(doc.data), problems, LeftOut()
    except ValidationError as error:
        placed = {problem[:2] for problem in problems}
        grouped = _grouped(error, doc)
        words = _Words(doc, kinds, unusable)
        for at, group in grouped.items():
            line, column, text = words.problem(at, group)
            if (line, column) not in placed:
                problems.append((line, column, text))
    faulty = [(at, group[0]["type"]) for at, group in grouped.items()]
    data, left_out = without(doc.data, faulty)
    try:
        return (None if data is None else model_of_spec.model_validate(data)), problems, left_out
    except ValidationError:
        return None, problems, left_out


def _grouped(error: ValidationError, doc: Document) -> dict[Keys, list[ErrorDetails]]:
    """The faults by place, those left out that only say that another branch did not match."""
    grouped: dict[Keys, list[ErrorDetails]] = {}
    for detail in error.errors()[: 2 * MAX_PROBLEMS]:  # what follows takes their square
        at = _keys(detail["loc"], doc.data, names=detail["type"] in {"missing", "extra_forbidden"})
        grouped.setdefault(at, []).append(detail)
    # Where one branch of a union got further than another, the other has nothing to add.
    deepest = {at for at in grouped if not any(o != at and o[: len(at)] == at for o in grouped)}
    return {at: group for at, group in grouped.items() if at in deepest}


def _keys(loc: tuple[int | str, ...], data: Any, *, names: bool) -> Keys:  # noqa: ANN401 parsed YAML
    """The path in the file: pydantic's names of union members are not in it.

    Args:
        loc: pydantic's path.
        data: the document.
        names: the last step is a key that the file does not have, or should not.
    """
    path: list[str | int] = []
    here = data
    for i, step in enumerate(loc):
        if _holds(here, step):
            here = here[step]
            path.append(step)
        elif names and i == len(loc) - 1 and isinstance(here, dict):
            path.append(step)  # the missing key itself
    return tuple(path)


def _holds(here: Any, step: int | str) -> bool:  # noqa: ANN401 parsed YAML
    """Whether a mapping has a key, or a list an index."""
    if isinstance(step, str):
        return isinstance(here, dict) and step in here
    return isinstance(here, list) and step < len(here)


@dataclass(frozen=True, slots=True)
class _Words:
    """Puts the faults of one document into words."""

    doc: Document
    kinds: Mapping[str, type[Check]]
    unusable: Mapping[str, str]  # extensions by the kind they should give

    def problem(self, at: Keys, group: list[ErrorDetails]) -> Problem:
        """What is wrong at a place."""
        doc = self.doc
        kind = group[0]["type"]
        name = dotted(at)
        if kind == "missing":
            whole = dotted(at[:-1]) or "the question"
            return *doc.position(at[:-1]), f"{whole}: expected the key {at[-1]!r}, found none"
        if kind == "extra_forbidden":
            known_keys = self._known_keys(at)
            near = closest(str(at[-1]), known_keys)
            hint = f"did you mean {near!r}?" if near else f"known keys: {', '.join(known_keys)}"
            if " " in str(at[-1]).strip():  # {about: one, two}: the second half became a key
                hint = "is it the end of a text? A text that holds a comma needs quotes here"
            whole = dotted(at[:-1]) or "the question"
            return *doc.position(at, key=True), f"{whole}: found the unknown key {at[-1]!r}; {hint}"
        if kind == "union_tag_invalid":
            return *doc.position((*at, "kind")), f"{name}.kind: {self._kind(group[0]['input'])}"
        expected = " or ".join(dict.fromkeys(_expected(detail) for detail in group))
        value = group[0]["input"]
        advice = _advice(value, expected) or _near_literal(value, group)
        return *doc.position(at), f"{name}: expected {expected}, found {found(value)}{advice}"

    def _kind(self, check: Mapping[str, object]) -> str:
        value = check.get("kind")
        if isinstance(value, str) and value in self.unusable:
            return self.unusable[value]
        kinds = registry.names()
        listed = ", ".join(kinds)
        return f"expected one of {listed}, found {value!r}{_hint(value, kinds)}"

    def _known_keys(self, at: Keys) -> list[str]:
        """The keys allowed where an unknown one was found."""
        part: type[BaseModel] | None = Spec
        for number, step in enumerate(at[:-1]):
            if isinstance(step, int) and at[:number] == ("checks",):
                part = self.kinds.get(str(self.doc.data["checks"][step].get("kind")), Check)
            elif part is not None and step in (named := _fields(part)):
                part = _part_in(named[str(step)].annotation)
        return [] if part is None else list(_fields(part))


def _part_in(annotation: Any) -> type[BaseModel] | None:  # noqa: ANN401 any type
    """The part of a spec that a key holds, alone, in a list or by name."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_part_in, get_args(annotation))), None)


def _hint(word: object, words: Iterable[str]) -> str:
    near = closest(str(word), words)
    return f"; did you mean {near!r}?" if near else ""


def _near_literal(value: object, group: list[ErrorDetails]) -> str:
    """The nearest of the words that are allowed, if any is near."""
    if not isinstance(value, str):
        return ""
    words = [w for d in group if d["type"] == "literal_error" for w in _words(d)]
    return _hint(value, words)


def _words(detail: ErrorDetails) -> list[str]:
    return re.findall(r"'([^']*)'", str(detail.get("ctx", {}).get("expected", "")))


def _expected(detail: ErrorDetails) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind == "literal_error":
        allowed = str(context["expected"])
        return f"one of {allowed}" if "or" in allowed else allowed
    if kind == "string_pattern_mismatch":
        if "aten" in str(context["pattern"]):
            return "a call such as numpy.dot, torch.relu or aten::relu*"
        names = "A-Z" in str(context["pattern"])
        return "a name (letters, digits, _)" if names else "lower-case words joined by hyphens"
    limits = {"greater_than": "a number above {gt}", "less_than_equal": "a number of at most {le}",
              "string_too_long": "text of at most {max_length} characters"}  # fmt: skip
    if kind in limits:
        return limits[kind].format(**context)
    return detail["msg"]


def found(value: object) -> str:
    """A value in words, short."""
    match value:
        case None:
            return "nothing"
        case bool():
            return f"the word {str(value).lower()!r}"
        case int() | float():
            return f"the number {value!r}"
        case str():
            text = value if len(value) <= 40 else value[:37] + "..."
            return f"the text {text!r}"
        case list():
            return f"a list of {len(value)}"
        case dict():
            return f"a mapping with {', '.join(map(str, list(value)[:4])) or 'no keys'}"
        case _:
            return f"a {type(value).__name__}"


def _advice(value: object, expected: str) -> str:
    if expected == "text" and isinstance(value, dict) and len(value) == 1:
        return "; a text that holds ': ' needs quotes"  # - Note: this
    return ""


def _fields(part: type[BaseModel]) -> dict[str, FieldInfo]:
    return {info.alias or name: info for name, info in part.model_fields.items()}
