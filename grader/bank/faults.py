"""Validate a document against the model, and say every fault in words with its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from grader.bank.document import Document, Keys, one_line
from grader.bank.locate import closest
from grader.model import spec as model
from grader.model.errors import BankError
from grader.model.spec import Spec

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
_KINDS: dict[str, type[BaseModel]] = {
    str(get_args(kind.model_fields["kind"].annotation)[0]): kind
    for kind in get_args(get_args(model.AnyCheck)[0])
}


def validate(doc: Document) -> Spec:
    """Turn a document into a spec.

    Raises:
        BankError: with every fault found, in the order of the file.
    """
    try:
        return Spec.model_validate(doc.data)
    except ValidationError as error:
        grouped: dict[Keys, list[ErrorDetails]] = {}
        for detail in error.errors():
            at = _keys(
                detail["loc"], doc.data, names=detail["type"] in {"missing", "extra_forbidden"}
            )
            grouped.setdefault(at, []).append(detail)
        # Where one branch of a union got further than another, the other has nothing to add.
        deepest = {at for at in grouped if not any(o != at and o[: len(at)] == at for o in grouped)}
        grouped = {at: group for at, group in grouped.items() if at in deepest}
        found = sorted(
            (_order(doc, at), _sentence(doc, at, group)) for at, group in grouped.items()
        )
        problems = tuple(one_line(text) for _, text in found)
        raise BankError(problems[0], problems=problems) from None


def _order(doc: Document, at: Keys) -> tuple[int, int]:
    place = doc.where(at, key=True).rsplit(":", 2)
    return int(place[1]), int(place[2])


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


def _sentence(doc: Document, at: Keys, group: list[ErrorDetails]) -> str:
    kind = group[0]["type"]
    name = dotted(at)
    if kind == "missing":
        whole = dotted(at[:-1]) or "the question"
        return f"{doc.where(at[:-1])}: {whole}: expected the key {at[-1]!r}, found none"
    if kind == "extra_forbidden":
        known = _known_keys(at, doc.data)
        near = closest(str(at[-1]), known)
        hint = f"did you mean {near!r}?" if near else f"known keys: {', '.join(known)}"
        whole = dotted(at[:-1]) or "the question"
        return f"{doc.where(at, key=True)}: {whole}: found the unknown key {at[-1]!r}; {hint}"
    if kind == "union_tag_invalid":
        value = group[0]["input"].get("kind")
        near = closest(str(value), _KINDS)
        hint = f"; did you mean {near!r}?" if near else ""
        kinds = ", ".join(_KINDS)
        place = doc.where((*at, "kind"))
        return f"{place}: {name}.kind: expected one of {kinds}, found {value!r}{hint}"
    expected = " or ".join(dict.fromkeys(_expected(detail) for detail in group))
    value = group[0]["input"]
    advice = _advice(value, expected)
    return f"{doc.where(at)}: {name}: expected {expected}, found {found(value)}{advice}"


def _expected(detail: ErrorDetails) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind == "literal_error":
        return (
            f"one of {context['expected']}"
            if "or" in str(context["expected"])
            else str(context["expected"])
        )
    if kind == "string_pattern_mismatch":
        return (
            "a name (letters, digits, _)"
            if "A-Z" in str(context["pattern"])
            else "lower-case words joined by hyphens"
        )
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
    if "number" in expected and isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return ""
        mantissa, _, exponent = value.partition("e")
        dotted_number = (
            f"{mantissa}.0e{exponent}" if exponent and "." not in mantissa else repr(number)
        )
        return f"; YAML reads a number only with the dot: {dotted_number}"
    return ""


def dotted(at: Keys) -> str:
    """`checks[1].at_most`."""
    text = ""
    for step in at:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def _known_keys(at: Keys, data: dict[str, Any]) -> list[str]:
    """The keys allowed where an unknown one was found."""
    match at:
        case (_,):
            return _fields(Spec)
        case ("checks", int() as i, _):
            return _fields(_KINDS.get(str(data["checks"][i].get("kind")), model.Check))
        case ("checks", _, "show", _):
            return _fields(model.Show)
        case ("checks", _, "conserves", _, _):
            return _fields(model.Conserved)
        case ("misconceptions", _, _):
            return _fields(model.Misconception)
        case ("follow_ups", _, _):
            return _fields(model.FollowUp)
        case _:
            return []


def _fields(part: type[BaseModel]) -> list[str]:
    fields: Iterable[tuple[str, Any]] = part.model_fields.items()
    return [info.alias or name for name, info in fields]
