"""`overrides.csv` in a folder of results: points that a teacher gives by hand.

The file is read with the grades and never written, and grading again keeps the points.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from grader.bank.bank_files import read_regular_file
from grader.model.classroom import ClassSettings, Override
from grader.model.errors import BankError, UsageError, did_you_mean

OVERRIDES = "overrides.csv"
_COLUMNS = ("student", "question", "points", "note")
_MAX_TABLE_SIZE = 4_000_000  # bytes
NO_FILE_NOTE = "nothing handed in"  # start of the note on a student without a submission


class ClassFileError(UsageError):
    """All problems in class.yaml or overrides.csv, with an excerpt of the file if there is one."""

    def __init__(self, error: BankError) -> None:
        super().__init__(error.problems[0])
        self.problems = error.problems
        self.excerpt = error.excerpt


def read_overrides(
    folder: Path, settings: ClassSettings, students: Collection[str]
) -> dict[tuple[str, str], Override]:
    """Return the points in `overrides.csv` by student and question; empty if there is no file.

    ClassFileError lists all invalid lines.
    """
    path = folder / OVERRIDES
    overrides = dict[tuple[str, str], Override]()
    if not path.exists():
        return overrides
    max_points = {question.id: question.of for question in settings.questions}
    problems: list[str] = []
    for line, row in _rows(path, problems):
        student, question, points, note = (row[name].strip() for name in _COLUMNS)
        problem = ""
        if student not in students and not note.casefold().startswith(NO_FILE_NOTE):
            problem = (
                f"no student {student!r} handed anything in, and the note does not begin with "
                f"{NO_FILE_NOTE!r}{did_you_mean(student, students)}"
            )
        elif question not in max_points:
            problem = f"no question {question!r} is asked{did_you_mean(question, max_points)}"
        elif not re.fullmatch("[0-9]{1,9}", points) or int(points) > max_points[question]:
            limit = max_points[question]
            problem = f"expected whole points from 0 to {limit}, found {points[:20]!r}"
        elif (student, question) in overrides:
            problem = f"expected one line for {student} and {question}, found another"
        if problem:
            problems.append(f"{path}:{line}: {problem}")
        else:
            overrides[student, question] = Override(int(points), note)
    if problems:
        raise ClassFileError(BankError(problems[0], problems=problems))
    return overrides


def _rows(path: Path, problems: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Give each row by column, with the number of its last line. Empty rows are left out.

    A row with too few or too many cells is added to `problems`. So is a line that is not CSV, which
    ends the reading. UsageError if the first line does not name the columns.
    """
    text = _read_text(path)
    first_line = text.partition("\n")[0]
    separator = ","
    if ";" in first_line and "," not in first_line:  # as some spreadsheets write it
        separator = ";"
    rows = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    try:
        header = [name.strip().lower() for name in next(rows, [])]
        if sorted(header) not in (sorted(_COLUMNS), sorted(_COLUMNS[:3])):
            columns = ", ".join(header) or "nothing"
            raise UsageError(f"{path}:1: expected {', '.join(_COLUMNS)}, found {columns}")
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) == len(header):
                yield rows.line_num, {"note": "", **dict(zip(header, row, strict=True))}
            else:
                problem = f"expected {len(header)} cells, found {len(row)}"
                problems.append(f"{path}:{rows.line_num}: {problem}")
    except csv.Error as error:
        problems.append(f"{path}:{rows.line_num}: expected CSV: {error}")


def _read_text(path: Path) -> str:
    try:
        return read_regular_file(path, _MAX_TABLE_SIZE)[0].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UsageError(
            f"{path}:{line}: expected UTF-8, found the byte 0x{error.object[error.start]:02x}",
            hint="save it as CSV UTF-8",
        ) from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
