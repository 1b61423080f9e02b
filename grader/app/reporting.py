"""What a class shows: everything that follows from its results, and the page of it."""

from __future__ import annotations

import os
from pathlib import Path

from grader.classroom.findings import find
from grader.classroom.results import Results
from grader.model.errors import UsageError
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
    if file.is_dir():
        raise UsageError(f"{file}: expected a file, found a folder", hint="name a file in it")
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with fresh.open("w", encoding="utf-8", buffering=1 << 16) as page:
            page.writelines(class_page(found, results.attempts(), str(folder)))
        fresh.replace(file)
    except OSError as fault:
        raise UsageError(f"{file}: cannot be written: {fault.strerror}") from fault
    finally:
        fresh.unlink(missing_ok=True)
    return found
