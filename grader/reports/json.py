"""A report as one JSON document.  `docs/report.md` explains every field.

The document mirrors `grader.model.report` name by name, so there is one list of fields and
it cannot drift.  What JSON lacks is written plainly: an exhibit carries its `kind`, a set
of entries is a sorted list, and a figure that is not finite is "NaN", "inf" or "-inf".
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum

from grader.model.errors import GraderError
from grader.model.report import Bars, Breakdown, Curve, Grids, Report

_KINDS: dict[type, str] = {Grids: "grids", Breakdown: "breakdown", Bars: "bars", Curve: "curve"}


def to_json(report: Report) -> dict[str, object]:
    """The report as plain dicts, lists, numbers, text and None; its format first."""
    plain = _encoded(report)
    assert isinstance(plain, dict)
    return {"format": plain.pop("format"), **plain}


def dumps(report: Report, *, indent: int | None = None) -> str:
    """The report as exactly one JSON document, strict and in ASCII."""
    return json.dumps(to_json(report), allow_nan=False, indent=indent)


def _encoded(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        plain = {f.name: _encoded(getattr(value, f.name)) for f in fields(value)}
        kind = _KINDS.get(type(value))
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
