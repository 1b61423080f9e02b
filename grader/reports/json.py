"""Reports as plain data for JSON.  `docs/report.md` and `docs/audit.md` explain every field.

A document mirrors its class in `grader.model` name by name, so there is one list of fields and
it cannot drift.  What JSON lacks is written plainly: an exhibit carries its `kind`, a set
of entries is a sorted list, and a figure that is not finite is "NaN", "inf" or "-inf".

What is right of an estimate is found, not read: whatever shows a report passes it through
`withheld` first, so that no page, document or exhibit has the figures.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from itertools import islice
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from grader.model.errors import GraderError
from grader.model.report import (
    NON_FAILING_VERDICTS,
    Breakdown,
    BreakdownRow,
    CheckResult,
    Exhibit,
    Report,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from grader.grading.submission import ExperimentResult

_MOST_NAMES = 8  # of the numbers of a run
_FIGURE = re.compile(r"(the (number|text) )?[-+.\d]|NaN|infinity|True|False|None")


def to_json(report: Report, *, whole: bool = False) -> dict[str, object]:
    """The report as plain dicts, lists, numbers, text and None; its format first.

    It is `whole` with what is expected of an estimate, which no candidate is shown.
    """
    return {
        "format": report.format,
        **to_plain_data(report if whole else without_expected_values(report)),
    }


def dumps(report: Report) -> str:
    """The report as exactly one JSON document, strict and in ASCII."""
    return json.dumps(to_json(report), allow_nan=False)


def run_to_json(ran: ExperimentResult) -> dict[str, Any]:
    """What came of a run of a script; of what it returned, the numbers."""
    return {
        **to_plain_data(ran, without={"value"}),
        "numbers": to_json_value(run_numbers(ran.value)),
    }


def run_numbers(value: object) -> dict[str, list[float]]:
    """The numbers that a run returned, by name: one number is a series of one; all else is left."""
    named = value if isinstance(value, Mapping) else {"result": value}
    found = {}
    for name, one in islice(named.items(), _MOST_NAMES):
        one = one.tolist() if hasattr(one, "tolist") else one
        several = one if isinstance(one, (list, tuple)) else [one]
        if several and all(isinstance(x, (int, float)) for x in several):
            found[str(name)] = [float(x) for x in several]
    return found


def to_plain_data(value: DataclassInstance, without: Container[str] = ()) -> dict[str, Any]:
    """Any data of ours as plain dicts, lists, numbers, text and None."""
    names = [f.name for f in fields(value) if f.name not in without]
    return {name: to_json_value(getattr(value, name)) for name in names}


def to_json_value(value: object) -> object:
    """A value of ours as JSON has it."""
    match value:
        case Enum():
            return value.value
        case None | bool() | str():
            return value
        case Mapping():
            return {str(name): to_json_value(item) for name, item in value.items()}
        case frozenset():
            return [to_json_value(item) for item in sorted(value)]
        case tuple() | list():
            return [to_json_value(item) for item in value]
        case Integral():  # numpy's among them
            return int(value)
        case Real():
            number = float(value)
            if math.isfinite(number):
                return number
            return "NaN" if math.isnan(number) else str(number)
    if is_dataclass(value) and not isinstance(value, type):
        kind = {"kind": type(value).__name__.lower()} if isinstance(value, Exhibit) else {}
        return kind | to_plain_data(value)
    raise GraderError(f"report: expected plain data, found {type(value).__name__}")


def without_expected_values(report: Report) -> Report:
    """The report without what is expected of an estimate; the same one, if there is none."""
    wrong = {c.id for c in report.checks if c.verdict not in NON_FAILING_VERDICTS and c.estimate}
    if not wrong:
        return report
    checks = tuple(_without(c) if c.id in wrong else c for c in report.checks)
    told = report.explanations
    if any(c.id in wrong and not c.stretch for c in report.checks):
        # These say how far off a number is.
        told = tuple(e for e in told if e.kind not in {"rule", "before"})
    return replace(report, checks=checks, explanations=told)


def _without(check: CheckResult) -> CheckResult:
    worst = check.mismatch
    if worst is None or not worst.expected or not (worst.index or _FIGURE.match(worst.expected)):
        return check  # a type or a shape
    message = check.message
    if worst.expected in message:
        message = f"{worst.result} is wrong in case {worst.case}"
    # A list in the place of a number is not the figure's fault: its type is no secret.
    typed = worst.expected.startswith("the number ") and not _FIGURE.match(worst.observed)
    rows = check.exhibit.rows if isinstance(check.exhibit, Breakdown) else ()
    return replace(
        check,
        message=message,
        mismatch=replace(worst, expected="a number" if typed else "", allowed=None),
        exhibit=Breakdown(tuple(map(_row, rows))) if rows else None,
        figures={},
    )


def _row(row: BreakdownRow) -> BreakdownRow:
    """What is right is known already, what is wrong is only said to be."""
    if row.note:
        return replace(row, expected="", note="wrong")
    return replace(row, expected=row.observed)  # within what is allowed
