"""A report as one JSON document, and back.  `docs/report.md` explains every field.

The document mirrors `grader.model.report` name by name, so there is one list of fields and
it cannot drift.  What JSON lacks is written plainly: an exhibit carries its `kind`, a set
of entries is a sorted list, and a figure that is not finite is "NaN", "inf" or "-inf".
"""

from __future__ import annotations

import json
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache

from grader.model.errors import GraderError
from grader.model.report import REPORT_FORMAT, Bars, Breakdown, Curve, Grids, Report

_KINDS: dict[str, type] = {
    "grids": Grids,
    "breakdown": Breakdown,
    "bars": Bars,
    "curve": Curve,
}
_KIND_OF = {cls: kind for kind, cls in _KINDS.items()}


def to_json(report: Report) -> dict[str, object]:
    """The report as plain dicts, lists, numbers, text and None; its format first."""
    plain = _encoded(report)
    assert isinstance(plain, dict)
    return {"format": plain.pop("format"), **plain}


def dumps(report: Report, *, indent: int | None = None) -> str:
    """The report as exactly one JSON document, strict and in ASCII."""
    return json.dumps(to_json(report), allow_nan=False, indent=indent)


def from_json(data: object) -> Report:
    """The report that `to_json` wrote.

    Fields that are missing take their defaults and unknown ones are passed over, so that
    a stored report outlives a field being added.

    Raises:
        GraderError: the document is no report, or of a later format.
    """
    if not isinstance(data, dict):
        raise GraderError(f"report: expected a JSON object, found {type(data).__name__}")
    found = data.get("format")
    if found != REPORT_FORMAT:
        raise GraderError(
            f"report: expected format {REPORT_FORMAT}, found {found!r}",
            hint="a newer version of drill may have written it",
        )
    try:
        report = _decoded(data, Report, "report")
    except ValueError as fault:  # an unknown verdict, a number that is none
        raise GraderError(f"report: {fault}") from fault
    assert isinstance(report, Report)
    return report


def _encoded(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        plain = {f.name: _encoded(getattr(value, f.name)) for f in fields(value)}
        kind = _KIND_OF.get(type(value))
        return {"kind": kind, **plain} if kind else plain
    if isinstance(value, Mapping):
        return {str(name): _encoded(item) for name, item in value.items()}
    if isinstance(value, frozenset):
        return [_encoded(item) for item in sorted(value)]
    if isinstance(value, tuple | list):
        return [_encoded(item) for item in value]
    return _number(value)


def _number(value: object) -> int | float | str:
    """A Python number for any number, numpy's among them; text for what is not finite."""
    if hasattr(value, "__index__"):
        return int(value.__index__())
    if not hasattr(value, "__float__"):
        raise GraderError(f"report: expected plain data, found {type(value).__name__}")
    plain = float(value.__float__())
    return plain if math.isfinite(plain) else "NaN" if math.isnan(plain) else str(plain)


@cache
def _shape(cls: type) -> tuple[tuple[Field[object], object], ...]:
    """The fields of a dataclass with their types."""
    hints = typing.get_type_hints(cls)
    return tuple((f, hints[f.name]) for f in fields(cls))


def _decoded(data: object, wanted: object, where: str) -> object:
    """`data` as the type that a field of the report declares."""
    origin, parts = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is typing.Union or origin is types.UnionType:
        return _one_of(data, parts, where)
    if origin is tuple:
        items = _list(data, where)
        if parts[-1] is Ellipsis:
            return tuple(_decoded(item, parts[0], where) for item in items)
        return tuple(_decoded(item, part, where) for item, part in zip(items, parts, strict=True))
    if origin is frozenset:
        return frozenset(_decoded(item, parts[0], where) for item in _list(data, where))
    if origin is Mapping and isinstance(data, dict):
        return {name: _decoded(item, parts[1], where) for name, item in data.items()}
    if isinstance(wanted, type):
        return _plain(data, wanted, where)
    raise GraderError(f"{where}: no way to read {wanted}")


def _one_of(data: object, parts: tuple[object, ...], where: str) -> object:
    if data is None and type(None) in parts:
        return None
    kinds = [p for p in parts if p is not type(None)]
    if len(kinds) == 1:
        return _decoded(data, kinds[0], where)
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise GraderError(f"{where}: expected a kind out of {', '.join(_KINDS)}, found {kind!r}")
    return _decoded(data, _KINDS[kind], where)


def _plain(data: object, wanted: type, where: str) -> object:
    if is_dataclass(wanted):
        return _object(data, wanted, where)
    if wanted is float and isinstance(data, int | float | str) and not isinstance(data, bool):
        return data if isinstance(data, int) else float(data)  # whole bytes stay exact
    if issubclass(wanted, Enum) and isinstance(data, str):
        return wanted(data)
    if isinstance(data, wanted) and (wanted is bool or not isinstance(data, bool)):
        return data
    raise GraderError(f"{where}: expected {wanted.__name__}, found {type(data).__name__}")


def _object(data: object, wanted: type, where: str) -> object:
    if not isinstance(data, dict):
        raise GraderError(f"{where}: expected an object, found {type(data).__name__}")
    values: dict[str, object] = {}
    for field, hint in _shape(wanted):
        place = f"{where}.{field.name}"
        if field.name in data:
            values[field.name] = _decoded(data[field.name], hint, place)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise GraderError(f"{place}: missing")
    return wanted(**values)


def _list(data: object, where: str) -> list[object]:
    if not isinstance(data, list):
        raise GraderError(f"{where}: expected a list, found {type(data).__name__}")
    return data
