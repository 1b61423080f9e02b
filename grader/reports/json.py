"""Reports as plain data for JSON.  `docs/report.md` and `docs/audit.md` explain every field.

A document mirrors its class in `grader.model` name by name, so there is one list of fields and
it cannot drift.  What JSON lacks is written plainly: an exhibit carries its `kind`, a set
of entries is a sorted list, and a figure that is not finite is "NaN", "inf" or "-inf".
"""

from __future__ import annotations

import json
import math
from collections.abc import Container, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from grader.model.audit import AuditReport, Fate, MutationReport, Trial
from grader.model.errors import GraderError
from grader.model.report import Exhibit, Report
from grader.reports.runs import numbers
from grader.reports.withheld import withheld

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from grader.session.experiment import Ran


def to_json(report: Report, *, whole: bool = False) -> dict[str, object]:
    """The report as plain dicts, lists, numbers, text and None; its format first.

    It is `whole` with what is expected of an estimate, which no candidate is shown.
    """
    return {"format": report.format, **_fields(report if whole else withheld(report))}


def dumps(report: Report, *, indent: int | None = None, whole: bool = False) -> str:
    """The report as exactly one JSON document, strict and in ASCII."""
    return json.dumps(to_json(report, whole=whole), allow_nan=False, indent=indent)


def audit_to_json(report: AuditReport, mutants: MutationReport | None = None) -> dict[str, object]:
    """An audit, with the mutants of its question where they were tried."""
    found = {**_fields(report), "ok": report.ok}
    return found if mutants is None else {**found, "mutants": mutation_to_json(mutants)}


def mutation_to_json(report: MutationReport) -> dict[str, object]:
    """What mutants of a reference showed."""
    return {
        **_fields(report, without={"question", "seeds", "trials"}),
        "tried": len(report.trials),
        **{fate.value: report.count(fate) for fate in Fate},
        "score": report.score,
        "ok": report.ok,
        "mutants": [_trial(trial) for trial in report.trials],
    }


def plain(value: DataclassInstance) -> dict[str, Any]:
    """Any data of ours as plain dicts, lists, numbers, text and None."""
    return _fields(value)


def run_to_json(ran: Ran) -> dict[str, Any]:
    """What came of a run of a script; of what it returned, the numbers."""
    return {**_fields(ran, without={"value"}), "numbers": _encoded(numbers(ran.value))}


def _trial(trial: Trial) -> dict[str, object]:
    return {
        "in": trial.mutant.scope,
        **_fields(trial.mutant, without={"scope", "start", "end", "text"}),
        **_fields(trial, without={"mutant", "counterexample"}),
        "witness": _encoded(trial.counterexample),
    }


def _fields(value: DataclassInstance, without: Container[str] = ()) -> dict[str, object]:
    names = [f.name for f in fields(value) if f.name not in without]
    return {name: _encoded(getattr(value, name)) for name in names}


def _encoded(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        kind = {"kind": type(value).__name__.lower()} if isinstance(value, Exhibit) else {}
        return kind | _fields(value)
    if isinstance(value, Mapping):
        return {str(name): _encoded(item) for name, item in value.items()}
    if isinstance(value, frozenset | tuple | list):
        return [_encoded(v) for v in (sorted(value) if isinstance(value, frozenset) else value)]
    if isinstance(value, Integral):  # numpy's among them
        return int(value)
    if isinstance(value, Real):
        plain = float(value)
        return plain if math.isfinite(plain) else "NaN" if math.isnan(plain) else str(plain)
    raise GraderError(f"report: expected plain data, found {type(value).__name__}")
