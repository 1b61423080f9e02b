"""A report read back from its JSON document, to be compared with the one that was written."""

from __future__ import annotations

from pydantic import TypeAdapter

from grader.model.report import Report

_REPORT = TypeAdapter(Report)


def from_json(data: object) -> Report:
    """The report that `grader.reports.json.to_json` wrote."""
    return _REPORT.validate_python(data)
