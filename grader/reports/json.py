"""Reports as plain data for JSON.  `docs/report.md` and `docs/audit.md` explain every field.

A document mirrors its class in `grader.model` name by name, so there is only one list of fields.
An exhibit also has its `kind`, a set of entries becomes a sorted list, and a number that is not
finite becomes "NaN", "inf" or "-inf".

The right number of an estimate is never shown: everything that shows a report passes it through
`without_expected_values` first.
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

_MAX_SERIES = 8  # results of a run
_FIGURE = re.compile(r"(the (number|text) )?[-+.\d]|NaN|infinity|True|False|None")


def to_json(report: Report, *, whole: bool = False) -> dict[str, object]:
    """Return the report as plain dicts, lists, numbers, text and None; its format comes first.

    If `whole`, it has the expected values of wrong estimates, which no candidate may see.
    """
    if not whole:
        report = without_expected_values(report)
    return {"format": report.format, **to_plain_data(report)}


def dumps(report: Report) -> str:
    """Return the report as one JSON document, strict and in ASCII."""
    return json.dumps(to_json(report), allow_nan=False)


def run_to_json(result: ExperimentResult) -> dict[str, Any]:
    """Return the result of an experiment as data for JSON, with only the numbers of its value."""
    numbers = to_json_value(run_numbers(result.value))
    return {**to_plain_data(result, without={"value"}), "numbers": numbers}


def run_numbers(value: object) -> dict[str, list[float]]:
    """Return the series of numbers that a run returned, by name.

    A single number is a series of one.  Other values are left out, and so are all values after the
    first eight.
    """
    results = value if isinstance(value, Mapping) else {"result": value}
    numbers = {}
    for name, series in islice(results.items(), _MAX_SERIES):
        if hasattr(series, "tolist"):
            series = series.tolist()
        if not isinstance(series, (list, tuple)):
            series = [series]
        if series and all(isinstance(number, (int, float)) for number in series):
            numbers[str(name)] = [float(number) for number in series]
    return numbers


def to_plain_data(value: DataclassInstance, without: Container[str] = ()) -> dict[str, Any]:
    """Return the fields of a data class, except those in `without`, as data for JSON."""
    names = [f.name for f in fields(value) if f.name not in without]
    return {name: to_json_value(getattr(value, name)) for name in names}


def to_json_value(value: object) -> object:
    """Return a value as strict JSON can write it; GraderError for a type that is not data."""
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
        case Integral():  # also those of numpy
            return int(value)
        case Real():
            number = float(value)
            if math.isfinite(number):
                return number
            return "NaN" if math.isnan(number) else str(number)
    if is_dataclass(value) and not isinstance(value, type):
        data = to_plain_data(value)
        if isinstance(value, Exhibit):
            return {"kind": type(value).__name__.lower(), **data}
        return data
    raise GraderError(f"report: expected plain data, found {type(value).__name__}")


def without_expected_values(report: Report) -> Report:
    """Return the report without all facts that tell the expected value of a wrong estimate."""
    wrong = {c.id for c in report.checks if c.verdict not in NON_FAILING_VERDICTS and c.estimate}
    if not wrong:
        return report
    checks = tuple(_without_expected(c) if c.id in wrong else c for c in report.checks)
    explanations = report.explanations
    if any(check.id in wrong and not check.stretch for check in report.checks):
        # These say how far off a number is.
        explanations = tuple(e for e in explanations if e.kind != "rule")
    return replace(report, checks=checks, explanations=explanations)


def _without_expected(check: CheckResult) -> CheckResult:
    worst = check.mismatch
    if worst is None or not worst.expected or not (worst.index or _FIGURE.match(worst.expected)):
        return check  # the expected value is a type or a shape, not a number
    message = check.message
    if worst.expected in message:
        message = f"{worst.result} is wrong in case {worst.case}"
    # The type of a number may be shown if the submission has, say, a list in its place.
    is_type = worst.expected.startswith("the number ") and not _FIGURE.match(worst.observed)
    exhibit = None
    if isinstance(check.exhibit, Breakdown) and check.exhibit.rows:
        exhibit = Breakdown(tuple(map(_row_without_expected, check.exhibit.rows)))
    return replace(
        check,
        message=message,
        mismatch=replace(worst, expected="a number" if is_type else "", allowed=None),
        exhibit=exhibit,
        figures={},
    )


def _row_without_expected(row: BreakdownRow) -> BreakdownRow:
    if row.note:
        return replace(row, expected="", note="wrong")
    return replace(row, expected=row.observed)  # within the tolerance
