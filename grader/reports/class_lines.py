"""A class as JSON lines: an object per student and question, with the whole report."""

from __future__ import annotations

import json

from grader.model.classroom import RESULTS_FORMAT, Entry
from grader.reports.class_rows import note, verdict
from grader.reports.json import to_json


def line(entry: Entry) -> str:
    """An entry as one line of strict JSON in ASCII; `points` is null where nothing is graded."""
    posed, handed, report = entry.posed, entry.handed, entry.report
    content = {
        "format": RESULTS_FORMAT,
        "student": handed.student, "name": handed.name, "email": handed.email,
        "question": posed.id, "title": posed.title, "digest": posed.digest,
        "points": entry.points, "of": posed.of, "weight": posed.weight,
        "verdict": verdict(entry), "note": note(entry),
        "late": entry.late, "at": handed.at, "file": handed.path, "sha256": handed.sha256,
        "report": None if report is None else to_json(report),
    }  # fmt: skip
    return json.dumps(content, allow_nan=False, separators=(",", ":"))
