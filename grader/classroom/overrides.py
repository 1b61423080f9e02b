"""`overrides.csv` in a folder of results: points that a teacher gives by hand.

They are read with the grades and never written, so that they outlive every grade.
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
NO_FILE_NOTE = "nothing handed in"  # how a note begins for who has no other row
_MOST = 4_000_000  # bytes


class ClassFileError(UsageError):
    """A class.yaml or overrides.csv is wrong; `problems` has every fault, `excerpt` a line."""

    def __init__(self, error: BankError) -> None:
        super().__init__(error.problems[0])
        self.problems = error.problems
        self.excerpt = error.excerpt


def read_overrides(
    folder: Path, terms: ClassSettings, students: Collection[str]
) -> dict[tuple[str, str], Override]:
    """Return points by hand, by student and question; none where there is no such file."""
    path = folder / OVERRIDES
    found = dict[tuple[str, str], Override]()
    if not path.exists():
        return found
    most = {one.id: one.of for one in terms.questions}
    faults: list[str] = []
    for line, row in _rows(path, faults):
        student, question, points, note = (row[name].strip() for name in _COLUMNS)
        wrong = ""
        if student not in students and not note.casefold().startswith(NO_FILE_NOTE):
            wrong = f"no student {student!r} handed anything in, and the note does not begin with "
            wrong += f"{NO_FILE_NOTE!r}{did_you_mean(student, students)}"
        elif question not in most:
            wrong = f"no question {question!r} is asked{did_you_mean(question, most)}"
        elif not re.fullmatch("[0-9]{1,9}", points) or int(points) > most[question]:
            wrong = f"expected whole points from 0 to {most[question]}, found {points[:20]!r}"
        elif (student, question) in found:
            wrong = f"expected one line for {student} and {question}, found another"
        if wrong:
            faults.append(f"{path}:{line}: {wrong}")
        else:
            found[student, question] = Override(int(points), note)
    if faults:
        raise ClassFileError(BankError(faults[0], problems=faults))
    return found


def _rows(path: Path, faults: list[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Give each row by column, with the number of its last line; what is empty is passed over.

    Rows of another length, and the end of the file from a row on that is no CSV, join the `faults`.
    """
    try:
        text = read_regular_file(path, _MOST)[0].decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = fault.object[: fault.start].count(b"\n") + 1
        raise UsageError(
            f"{path}:{line}: expected UTF-8, found the byte 0x{fault.object[fault.start]:02x}",
            hint="save it as CSV UTF-8",
        ) from None
    except OSError as fault:
        raise UsageError(f"{path}: cannot be read: {fault.strerror}") from fault
    first = text.partition("\n")[0]
    separator = ";" if ";" in first and "," not in first else ","  # as some spreadsheets write it
    rows = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    try:
        head = [name.strip().lower() for name in next(rows, [])]
        if sorted(head) not in (sorted(_COLUMNS), sorted(_COLUMNS[:3])):
            listed = ", ".join(head) or "nothing"
            raise UsageError(f"{path}:1: expected {', '.join(_COLUMNS)}, found {listed}")
        for row in rows:
            if any(cell.strip() for cell in row):
                if len(row) != len(head):
                    text = f"expected {len(head)} cells, found {len(row)}"
                    faults.append(f"{path}:{rows.line_num}: {text}")
                    continue
                yield rows.line_num, {"note": "", **dict(zip(head, row, strict=True))}
    except csv.Error as fault:
        faults.append(f"{path}:{rows.line_num}: expected CSV: {fault}")
