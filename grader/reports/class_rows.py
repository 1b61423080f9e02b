"""What a class earned as rows for spreadsheets.

Where the grader is at fault there are no points: the cell is empty, which is not a zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from grader.model.classroom import Entry, HandedIn, Posed, Terms
from grader.model.report import Report
from grader.reports.spreadsheet import Cell

NOT_GRADED = "not graded"
NOTHING = "nothing handed in"
NO_PROGRAM = "no program"

LONG = (
    "student", "name", "email", "question", "points", "of", "weight", "verdict", "parts",
    "misconceptions", "late", "when", "sha256", "file", "note",
)  # fmt: skip


def verdict(entry: Entry) -> str:
    """What became of an entry, in a word or two."""
    if entry.handed.fault:
        return NO_PROGRAM
    return NOT_GRADED if entry.report is None else str(entry.report.verdict)


def note(entry: Entry) -> str:
    """Why there is no verdict."""
    if entry.handed.fault:
        return entry.handed.fault
    if entry.report is not None:
        return ""
    return (entry.graded.fault if entry.graded else "") or "it was not graded yet"


def weighted(points: int, posed: Posed) -> float:
    """Points as they count in the total; whole ones whole."""
    value = points * posed.weight
    return int(value) if value == int(value) else round(value, 6)


def long_rows(entries: Iterable[Entry]) -> Iterator[Sequence[Cell]]:
    """One row per student and question, the names of the columns first."""
    yield LONG
    for entry in entries:
        handed, report = entry.handed, entry.report
        yield (
            handed.student, handed.name, handed.email, entry.posed.id, entry.points,
            entry.posed.of, entry.posed.weight, verdict(entry), _parts(report), _ideas(report),
            "late" if entry.late else "", handed.at, handed.sha256, handed.path, note(entry),
        )  # fmt: skip


def wide_rows(entries: Iterable[Entry], terms: Terms) -> Iterator[Sequence[Cell]]:
    """One row per student, with columns for each question and each part that counts."""
    columns: list[Cell] = ["student", "name", "email", "total", "of"]
    for posed in terms.posed:
        columns += [posed.id, f"{posed.id} verdict", f"{posed.id} late"]
        columns += [f"{posed.id} part {number}" for number in posed.parts]
    yield columns
    whole = _whole(terms)
    for who, found in students(entries):
        cells: list[Cell] = [who.student, who.name, who.email, total(found, terms), whole]
        for posed in terms.posed:
            entry = found.get(posed.id)
            if entry is None:
                cells += [None, NOTHING, "", *(None for _ in posed.parts)]
                continue
            cells += [entry.points, verdict(entry), "late" if entry.late else ""]
            cells += [_points(entry, number) for number in posed.parts]
        yield cells


def students(entries: Iterable[Entry]) -> Iterator[tuple[HandedIn, Mapping[str, Entry]]]:
    """Each student, as known from one file of theirs, and what counts of each question.

    Entries come by student.
    """
    for _, group in groupby(entries, key=lambda entry: entry.handed.student):
        found = {entry.posed.id: entry for entry in group}
        named = [e.handed for e in found.values() if e.handed.name or e.handed.email]
        yield (named or [next(iter(found.values())).handed])[0], found


def total(found: Mapping[str, Entry], terms: Terms) -> float | None:
    """Points of a student in all, by weight; None while something is not graded."""
    earned = [_earned(found.get(posed.id)) for posed in terms.posed]
    known = [points for points in earned if points is not None]
    return round(sum(known), 6) if len(known) == len(earned) else None


def _earned(entry: Entry | None) -> float | None:
    if entry is None:
        return 0
    return None if entry.points is None else weighted(entry.points, entry.posed)


def _whole(terms: Terms) -> float:
    return round(sum(weighted(posed.of, posed) for posed in terms.posed), 6)


def _points(entry: Entry, number: int) -> int | None:
    if entry.handed.fault:
        return 0
    if entry.report is None:
        return None
    parts = entry.report.parts
    return parts[number - 1].points if number <= len(parts) else 0


def _parts(report: Report | None) -> str:
    """Every part that counts: "routing pass 30/30, edges fail 0/40"."""
    found = [] if report is None else [part for part in report.parts if part.of]
    return ", ".join(f"{part.id} {part.verdict} {part.points}/{part.of}" for part in found)


def _ideas(report: Report | None) -> str:
    return " ".join(idea.id for idea in report.misconceptions) if report is not None else ""
