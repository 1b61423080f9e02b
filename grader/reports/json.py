"""Reports as plain data for JSON.  `docs/report.md` and `docs/audit.md` explain every field.

A document mirrors its class in `grader.model` name by name, so there is one list of fields and
it cannot drift.  What JSON lacks is written plainly: an exhibit carries its `kind`, a set
of entries is a sorted list, and a figure that is not finite is "NaN", "inf" or "-inf".
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING

from grader.model.audit import AuditReport
from grader.model.errors import GraderError
from grader.model.mutation import Fate, MutationReport, Trial
from grader.model.report import Bars, Breakdown, Curve, Grids, Report

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_KINDS: dict[type, str] = {Grids: "grids", Breakdown: "breakdown", Bars: "bars", Curve: "curve"}


def to_json(report: Report) -> dict[str, object]:
    """The report as plain dicts, lists, numbers, text and None; its format first."""
    return {"format": report.format, **_fields(report)}


def dumps(report: Report, *, indent: int | None = None) -> str:
    """The report as exactly one JSON document, strict and in ASCII."""
    return json.dumps(to_json(report), allow_nan=False, indent=indent)


def audit_to_json(report: AuditReport, mutants: MutationReport | None = None) -> dict[str, object]:
    """An audit, with the mutants of its question where they were tried."""
    plain = {**_fields(report), "ok": report.ok}
    return plain if mutants is None else {**plain, "mutants": mutation_to_json(mutants)}


def mutation_to_json(report: MutationReport) -> dict[str, object]:
    """What mutants of a reference showed."""
    plain = _fields(report)
    del plain["question"], plain["seeds"], plain["trials"]
    return {
        **plain,
        "tried": len(report.trials),
        **{fate.value: report.count(fate) for fate in Fate},
        "score": report.score,
        "ok": report.ok,
        "mutants": [_trial(trial) for trial in report.trials],
    }


def _trial(trial: Trial) -> dict[str, object]:
    plain, mutant = _fields(trial), trial.mutant
    plain["witness"] = plain.pop("counterexample")
    del plain["mutant"]
    return {
        "in": mutant.scope,
        "line": mutant.line,
        "rule": mutant.rule,
        "was": mutant.was,
        "becomes": mutant.becomes,
        **plain,
    }


def _fields(value: DataclassInstance) -> dict[str, object]:
    return {f.name: _encoded(getattr(value, f.name)) for f in fields(value)}


def _encoded(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        kind = _KINDS.get(type(value))
        return {"kind": kind, **_fields(value)} if kind else _fields(value)
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
