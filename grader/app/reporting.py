"""What a class shows: everything that follows from its results, and the page of it."""

from __future__ import annotations

from pathlib import Path

from grader.classroom.disk import write_whole
from grader.classroom.findings import ClassFindings, find
from grader.classroom.page import class_page
from grader.classroom.results import Results


def report_class(folder: Path, *, html: Path | None = None) -> ClassFindings:
    """Return what follows from the results of a class, and write a page of it if asked.

    Raises:
        UsageError: There are none in the folder, or the page cannot be written.
    """
    with Results(folder) as results:
        found = find(results.terms, results.entries())
        if html is not None:
            write_whole(html, class_page(found, results.entries(), str(folder)))
        return found
