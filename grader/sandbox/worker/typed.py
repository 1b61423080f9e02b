"""Read named tuples from plain data, checked by type where it arrives.

The judge uses this file on what a worker says, so nothing is believed: a value of the wrong type
anywhere is `Malformed`, and unknown fields are left out.  It imports the standard library only.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, TypeVar

MOST = 1 << 63  # what the size of an integer stays below
M = TypeVar("M")


class Malformed(ValueError):
    """The data is not the message that it should be; the text says where it is not."""


@functools.cache
def _kinds(kind: Any) -> dict[str, Any]:  # noqa: ANN401 a named tuple
    """The types of a message's fields."""
    return typing.get_type_hints(kind)


@functools.cache
def _split(kind: Any) -> tuple[Any, tuple[Any, ...], bool]:  # noqa: ANN401 any type
    """A type without its arguments, these, and whether it is a message."""
    return typing.get_origin(kind), typing.get_args(kind), hasattr(kind, "_fields")


def prepare(module: Iterable[object]) -> None:
    """Look up the types of the messages in a module, before a program replaces anything."""
    for kind in module:
        if hasattr(kind, "_fields"):
            _kinds(kind)


def read(kind: type[M], data: object, where: str = "") -> M:
    """Return the message of a class that plain data holds by field name.

    Args:
        kind: a named tuple; its fields may be booleans, integers, texts, other named tuples,
            tuples, dicts with texts as keys, unions of these, any other class, or `Any`.
        data: a dict of field values; what has a default may be missing.
        where: what to call the data in a fault.

    Raises:
        Malformed: it is not that.
    """
    if not isinstance(data, dict):
        raise Malformed(where or "the whole")
    known = _kinds(typing.cast(Any, kind))
    found = {name: _value(known[name], data[name], name) for name in known.keys() & data.keys()}
    try:
        return kind(**found)
    except TypeError:
        raise Malformed(", ".join(known.keys() - found.keys())) from None


def _value(kind: Any, value: Any, where: str) -> Any:  # noqa: ANN401 any type and its value
    if kind is Any:
        return value
    origin, inner, is_message = _split(kind)
    if is_message:
        return read(kind, value, where)
    if kind in {bool, int, str, types.NoneType}:
        if type(value) is kind and (kind is not int or -MOST <= value < MOST):
            return value
    elif origin is types.UnionType:
        for one in inner:
            with suppress(Malformed):
                return _value(one, value, where)
    elif origin is tuple:
        if isinstance(value, (list, tuple)):
            each = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
            if len(each) == len(value):
                return tuple(_value(k, v, where) for k, v in zip(each, value, strict=True))
    elif origin is dict:
        if isinstance(value, dict):
            return {_value(str, k, where): _value(inner[1], v, where) for k, v in value.items()}
    elif isinstance(value, origin or kind):
        return value
    raise Malformed(where)
