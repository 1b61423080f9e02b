"""What a student is told of a grade, question by question: a file of Markdown, one of HTML.

A student's name, file and exception are text and nothing else, wherever they are shown.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path

from grader.classroom.disk import content, regular, write_whole
from grader.classroom.hiding import Seen, seen
from grader.classroom.page import framed
from grader.classroom.page import points as points_of
from grader.classroom.results import Results
from grader.model.classroom import AssignedQuestion, Entry, Terms
from grader.model.errors import UsageError
from grader.model.numerals import quantity
from grader.model.report import Report, Verdict
from grader.reports.blocks import Block, Heading, Item, Paragraph, render_html, render_markdown
from grader.reports.grade import told
from grader.reports.json import withheld

NOT_GRADED = (
    "Not graded yet, and that is not your fault: the grader could not finish. It will try again."
)
UNSEEN = "A hidden check does not pass."
_LONGEST = 60  # characters of the name of a file
# A name that every file system has, and that no other student's can be: what is made safe ends in a
# hash, and nothing that ends like one counts as safe.
_SAFE = re.compile(
    r"(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[a-z0-9](?:[a-z0-9._-]{,58}[a-z0-9_])?"
)
_HASHED = re.compile(r".*-[0-9a-f]{16}")


def visible(report: Report, hidden: Sequence[str]) -> Seen:
    """Return as much of a report as its student may read."""
    return seen(withheld(report), hidden)


def feedback(terms: Terms, entries: Sequence[Entry]) -> tuple[Block, ...]:
    """Say what came of everything that a student handed in.

    Args:
        terms: what the class is asked.
        entries: those of one student, at least one: what counts of each question.
    """
    found = {entry.question.id: entry for entry in entries}
    handed = entries[0].handed
    blocks: list[Block] = [Heading(handed.name or handed.student, level=1)]
    blocks += [Paragraph(terms.title)] if terms.title else []
    blocks.append(Paragraph(_total(terms, found), "Total:"))
    for question in terms.questions:
        blocks.append(Heading(question.title, question.id))
        blocks += _answer(terms, question, found.get(question.id))
    return tuple(blocks)


def _total(terms: Terms, found: dict[str, Entry]) -> str:
    """The weighted points of all questions."""
    earned, waiting = 0.0, 0
    for question in terms.questions:
        entry = found.get(question.id)
        points = 0 if entry is None else entry.points
        waiting += points is None
        earned += question.weighted(points or 0)
    text = f"{points_of(earned)} of {points_of(terms.of)} points"
    return f"{text} so far: {quantity(waiting, 'question')} not graded yet" if waiting else text


def _answer(terms: Terms, question: AssignedQuestion, entry: Entry | None) -> Iterator[Block]:
    if entry is None:
        yield Paragraph(_points(0, question), "Nothing handed in:")
        return
    report = entry.report
    state = "No program:" if entry.handed.fault else "Does not pass:"
    state = "Passes:" if report is not None and report.verdict is Verdict.PASS else state
    if entry.points is not None:
        yield Paragraph(_points(entry.points, question), state)
    if entry.late:
        known = entry.handed.at and terms.deadline and not entry.handed.late
        said = f"handed in {entry.handed.at}, the deadline was {terms.deadline}."
        yield Paragraph(said if known else "as the learning platform says.", "Late:")
    if entry.handed.fault:
        yield Paragraph(f"There is no program in {entry.handed.path}: {entry.handed.fault}.")
    elif report is None:
        yield Paragraph(NOT_GRADED)
    else:
        shown = visible(report, question.hidden)
        yield from _parts(report)
        yield from unseen(shown)
        yield from told(shown.report, complete=not (shown.left_out or shown.unseen))


def _points(points: int, question: AssignedQuestion) -> str:
    times = "" if question.weight == 1 else f", which count {points_of(question.weight)} times"
    return f"{points} of {quantity(question.of, 'point')}{times}"


def _parts(report: Report) -> Iterator[Block]:
    """What became of each part that counts, where there are several or points are shared."""
    if len(report.parts) < 2 and not any(check.of for check in report.checks):
        return
    for number, part in enumerate(report.parts, 1):
        if part.of:
            word = "passes" if part.verdict is Verdict.PASS else "does not pass"
            word = "not asked yet" if part.verdict is Verdict.SKIPPED else word
            yield Item(f"Part {number} {word}: {part.points} of {quantity(part.of, 'point')}")


def unseen(shown: Seen) -> Iterator[Paragraph]:
    """Say in which parts a hidden check does not pass, and no more."""
    if len(shown.report.parts) < 2:
        yield from [Paragraph(UNSEEN)] * bool(shown.unseen)
        return
    yield from (Paragraph(f"{UNSEEN[:-1]} in part {number}.") for number in shown.unseen)


def to_html(blocks: Sequence[Block]) -> str:
    """The feedback as a page that stands alone, runs nothing and asks for nothing."""
    title = blocks[0].title if isinstance(blocks[0], Heading) else ""
    return "".join(framed(title, [render_html(blocks)]))


def write_feedback(results: Results, folder: Path) -> tuple[int, int]:
    """Write what each student of a class is told, each file whole or not at all.

    What is in the folder already and is as it is to be stays untouched.  Returns how many students
    there are, and how many files were written.

    Raises:
        UsageError: The folder or a file in it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise UsageError(f"{folder}: expected a folder to write: {fault.strerror}") from fault
    students = changed = 0
    for student, entries in groupby(results.entries(), key=lambda one: one.handed.student):
        said = feedback(results.terms, list(entries))
        students += 1
        for ending, text in ((".md", render_markdown(said)), (".html", to_html(said))):
            written = text.encode("utf-8", "backslashreplace")
            path = folder / f"{stem(student)}{ending}"
            with suppress(OSError, UsageError):
                if content(path, regular, len(written)) == written:
                    continue
            write_whole(path, [written])
            changed += 1
    return students, changed


def stem(student: str) -> str:
    """Return what a student's files are called: safe everywhere, and nobody else's.

    It depends on the student alone, so that it stays when others come and go.
    """
    if _SAFE.fullmatch(student) and not _HASHED.fullmatch(student):
        return student
    kept = re.sub(r"[^A-Za-z0-9]+", "-", student)[:_LONGEST].strip("-") or "student"
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{kept}-{digest[:16]}"
