"""What a class earned, written for other programs; every format from the same entries."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

from grader.classroom.results import Results
from grader.model.classroom import Entry
from grader.model.errors import UsageError
from grader.model.nearest import closest
from grader.reports import (
    class_gradescope,
    class_junit,
    class_lines,
    class_rows,
    spreadsheet,
)

FORMATS = ("csv", "jsonl", "junit", "gradescope")


def export(
    results: Results, format: str, *, student: str | None = None, wide: bool = False
) -> Iterator[str]:
    """Give what counts in a class in a format, in pieces of text.

    Args:
        results: of `drill class grade`.
        format: one of FORMATS.
        student: whose alone; formats for one student need it where there are several.
        wide: of csv: a row per student, rather than per student and question.

    Raises:
        UsageError: There is no such student, or it is not clear who is meant.
    """
    terms = results.terms
    if format == "gradescope":
        found = _of_one(results, format, student)
        yield dumped(class_gradescope.results(terms.posed, found))
        return
    if student is not None:
        _known(results, student)
    entries = (e for e in results.entries() if student in {None, e.handed.student})
    tables: dict[str, Callable[[], Iterable[str]]] = {
        "csv": lambda: spreadsheet.rows(
            class_rows.wide_rows(entries, terms) if wide else class_rows.long_rows(entries)
        ),
        "jsonl": lambda: (f"{class_lines.line(entry)}\n" for entry in entries),
        "junit": lambda: class_junit.document(entries, terms),
    }
    yield from tables[format]()


def dumped(content: object) -> str:
    """A document of strict JSON in ASCII."""
    return f"{json.dumps(content, indent=2, allow_nan=False)}\n"


def _of_one(results: Results, format: str, student: str | None) -> dict[str, Entry]:
    """What counts of the one student who is meant, by question."""
    if student is None:
        everybody = results.students()
        if len(everybody) != 1:
            text = f"--{format} is for one student, found {len(everybody):,}"
            raise UsageError(text, hint="--student NAME says who is meant")
        student = everybody[0]
    else:
        _known(results, student)
    return {e.posed.id: e for e in results.entries() if e.handed.student == student}


def _known(results: Results, student: str) -> None:
    everybody = results.students()
    if student not in everybody:
        near = closest(student, everybody)
        hint = f"did you mean {near}?" if near else "drill class report lists everybody"
        raise UsageError(f"{results.folder}: no student {student}", hint=hint)
