"""What a class shows: everything that follows from its results."""

from __future__ import annotations

from pathlib import Path

from grader.classroom.findings import find
from grader.classroom.results import Results
from grader.model.findings import Findings


def report_class(folder: Path) -> Findings:
    """Return what follows from the results of a class.

    Raises:
        UsageError: There are none in the folder.
    """
    results = Results(folder)
    return find(results.terms, results.attempts(), results.unreadable)
