"""What a class shows: everything that follows from its results, and the page of it."""

from __future__ import annotations

from pathlib import Path

from grader.classroom.disk import write_whole
from grader.classroom.findings import find
from grader.classroom.results import Results
from grader.model.findings import Findings


def report_class(folder: Path) -> Findings:
    """Return what follows from the results of a class.

    Raises:
        UsageError: There are none in the folder.
    """
    return findings(Results(folder))


def findings(results: Results) -> Findings:
    """Return what follows from the results of a class."""
    return find(results.terms, results.attempts(), results.unreadable)


def write_page(folder: Path, file: Path) -> Findings:
    """Write the page of a class, whole or not at all, and return what follows from its results.

    Raises:
        UsageError: There are no results in the folder, or the file cannot be written.
    """
    from grader.reports.class_page import class_page

    results = Results(folder)
    found = findings(results)
    write_whole(file, class_page(found, results.attempts(), str(folder)))
    return found
