"""Messages: dataclasses that travel as plain data, and are checked by type where they arrive.

The judge uses this file on what a worker says, so nothing is believed: a value of the wrong type
anywhere is `Malformed`, and unknown fields are left out.  It imports the standard library only.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterable
from typing import Any, TypeVar

MOST = 1 << 63  # what the size of an integer stays below


class Malformed(ValueError):
    """The data is not the message that it should be; the text says where it is not."""


class Message:
    """A dataclass of this kind can be encoded by `wire`, and read back by `read`."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Whether the other is a message of the same class that holds the same."""
        return type(self) is type(other) and fields(self) == fields(other)

    def __repr__(self) -> str:
        """The class and the fields."""
        return f"{type(self).__name__}({fields(self)})"

    __hash__ = None  # type: ignore[assignment]


M = TypeVar("M")
_KNOWN: dict[Any, dict[str, Any]] = {}  # by class, its fields' types


@typing.dataclass_transform()
def message(kind: type[M]) -> type[M]:
    """Make a class a dataclass without what no message needs: making it costs start-up time."""
    return dataclasses.dataclass(slots=True, eq=False, repr=False)(kind)


def fields(message: object) -> dict[str, Any]:
    """The values of a message's fields, by name."""
    return {name: getattr(message, name) for name in getattr(message, "__dataclass_fields__", ())}


def read(kind: type[M], data: object, where: str = "") -> M:
    """Return the message of a class that plain data holds by field name.

    Args:
        kind: a dataclass; its fields may be booleans, integers, texts, other dataclasses, tuples,
            dicts with texts as keys, unions of these, any other class, or `Any`.
        data: a dict of field values; what has a default may be missing.
        where: what to call the data in a fault.

    Raises:
        Malformed: it is not that.
    """
    if not isinstance(data, dict):
        raise Malformed(where or "the whole")
    known = _kinds(kind)
    found = {name: _value(known[name], data[name], name) for name in known.keys() & data.keys()}
    try:
        return kind(**found)
    except TypeError:
        raise Malformed(", ".join(known.keys() - found.keys())) from None


def prepare(module: Iterable[object]) -> None:
    """Look up the types of the messages in a module, before a program replaces anything."""
    for kind in module:
        if isinstance(kind, type) and issubclass(kind, Message) and kind is not Message:
            _kinds(kind)


def _kinds(kind: Any) -> dict[str, Any]:  # noqa: ANN401 a dataclass
    """The types of a dataclass's fields."""
    if kind not in _KNOWN:
        kinds = typing.get_type_hints(kind)
        _KNOWN[kind] = {field.name: kinds[field.name] for field in dataclasses.fields(kind)}
    return _KNOWN[kind]


def _value(kind: Any, value: Any, where: str) -> Any:  # noqa: ANN401 any type and its value
    if kind is Any:
        return value
    if kind is int:
        if type(value) is int and -MOST <= value < MOST:
            return value
        raise Malformed(where)
    if kind in {bool, str, types.NoneType}:
        if type(value) is kind:
            return value
        raise Malformed(where)
    if dataclasses.is_dataclass(kind):
        return read(typing.cast(type[Any], kind), value, where)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:
        return _one_of(inner, value, where)
    if origin is tuple and isinstance(value, (list, tuple)):
        each = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        if len(each) == len(value):
            return tuple(_value(k, v, where) for k, v in zip(each, value, strict=True))
    elif origin is dict and isinstance(value, dict):
        return {_value(str, k, where): _value(inner[1], v, where) for k, v in value.items()}
    elif origin not in {tuple, dict} and isinstance(value, origin or kind):
        return value
    raise Malformed(where)


def _one_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:  # noqa: ANN401 see above
    for kind in kinds:
        try:
            return _value(kind, value, where)
        except Malformed:
            continue
    raise Malformed(where)
