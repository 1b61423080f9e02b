"""What a class's page says of one student: what a grade's page says, question by question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.model.classroom import Entry
from grader.model.findings import Attempts, Cell, Standing, Student
from grader.model.numerals import quantity
from grader.model.report import Report
from grader.reports import class_words
from grader.reports.blocks import Block
from grader.reports.feedback import told
from grader.reports.hiding import seen
from grader.reports.sheet import joined

_HISTORY = 20  # hand-ins that are listed


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of one question."""

    number: int  # of the question, from 1
    question: str
    cell: str
    facts: str
    history: str  # where there are several hand-ins
    note: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class StudentPage:
    """What is said of one student."""

    student: Student
    answers: tuple[Answer, ...]


def student_page(student: Student, attempts: Sequence[Attempts], deadline: str) -> StudentPage:
    """Say everything about a student.

    Args:
        student: with a cell for each question.
        attempts: what the student handed in for each question.
        deadline: in whose offset times are shown.
    """
    found = {entry.posed.id: (entry, everything) for entry, everything in attempts}
    answers = []
    for number, cell in enumerate(student.cells, 1):
        entry, everything = found.get(cell.question, (None, ()))
        answers.append(_answer(number, cell, entry, everything, deadline))
    return StudentPage(student, tuple(answers))


def _answer(
    number: int, cell: Cell, entry: Entry | None, everything: Sequence[Entry], deadline: str
) -> Answer:
    said = class_words.cell(cell) if cell.standing is not Standing.MISSING else str(cell.standing)
    report = entry.report if entry is not None else None
    return Answer(
        number,
        cell.question,
        said,
        "; ".join(_facts(cell, entry, deadline)) if entry is not None else "",
        _history(everything, deadline) if len(everything) > 1 else "",
        f"Not graded: {cell.note}" if cell.standing is Standing.NOT_GRADED else cell.note,
        tuple(_blocks(report)) if report is not None else (),
    )


def _history(everything: Sequence[Entry], deadline: str) -> str:
    texts = []
    for one in everything[-_HISTORY:]:
        verdict = one.report.verdict if one.report is not None else "not graded"
        ideas = [idea.id for idea in one.report.misconceptions] if one.report is not None else []
        points = f", {one.points} points" if one.points is not None else ""
        held = f" ({joined(ideas)})" if ideas else ""
        at = class_words.when(one.handed.at, deadline)
        texts.append(f"{at} {one.handed.fault or verdict}{points}{held}")
    return f"{quantity(len(everything), 'hand-in')}: {'; '.join(texts)}"


def _facts(cell: Cell, entry: Entry, deadline: str) -> Iterator[str]:
    """Parts, when it was handed in, and which file that was."""
    report = entry.report
    if report is not None and len(report.parts) > 1:
        yield ", ".join(
            f"part {n} {part.verdict} ({part.points} of {part.of})"
            for n, part in enumerate(report.parts, 1)
            if part.of
        )
    if cell.at:
        yield f"handed in {class_words.when(cell.at, deadline)}{', late' if cell.late else ''}"
    yield entry.handed.path
    if cell.group:
        yield f"in the group of equal answers {cell.group}"


def _blocks(report: Report) -> Iterator[Block]:
    """What its page says, with the hidden checks, and what it printed."""
    yield from told(seen(report, ()))
