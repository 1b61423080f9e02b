"""What a student reads of a grade, question by question, as a page of HTML or as Markdown."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from string import Template

from grader.model.classroom import Entry, Posed, Terms
from grader.model.numerals import quantity
from grader.model.report import Report
from grader.model.verdict import Verdict
from grader.reports import grade
from grader.reports.blocks import (
    Block,
    Heading,
    Item,
    Paragraph,
    render_html,
    render_markdown,
)
from grader.reports.hiding import Seen, seen
from grader.reports.inert import inert
from grader.reports.withheld import withheld

_PAGE = Path(__file__).parent / "templates" / "feedback.html"
NOT_GRADED = (
    "Not graded yet, and that is not your fault: the grader did not finish. It will be tried again."
)
UNSEEN = "A hidden check does not pass."


def feedback(terms: Terms, entries: Sequence[Entry]) -> tuple[Block, ...]:
    """Say what came of everything that a student handed in.

    Args:
        terms: what the class is asked.
        entries: those of one student, at least one: what counts of each question.
    """
    found = {entry.posed.id: entry for entry in entries}
    handed = entries[0].handed
    blocks: list[Block] = [Heading(handed.name or handed.student, level=1)]
    blocks += [Paragraph(terms.title)] * bool(terms.title)
    blocks.append(Paragraph(_total(terms, found), "Total:"))
    for posed in terms.posed:
        blocks.append(Heading(posed.title, posed.id))
        blocks += _answer(terms, posed, found.get(posed.id))
    return tuple(blocks)


def _total(terms: Terms, found: dict[str, Entry]) -> str:
    """The weighted points of all questions, exactly."""
    earned = possible = Decimal(0)
    waiting = 0
    for posed in terms.posed:
        entry, weight = found.get(posed.id), Decimal(str(posed.weight))
        points = 0 if entry is None else entry.points
        waiting += points is None
        earned += weight * (points or 0)
        possible += weight * posed.of
    text = f"{_exact(earned)} of {_exact(possible)} points"
    return f"{text} so far: {quantity(waiting, 'question')} not graded yet" if waiting else text


def _exact(value: Decimal) -> str:
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _answer(terms: Terms, posed: Posed, entry: Entry | None) -> Iterator[Block]:
    """What is said of one question."""
    if entry is None:
        yield _state("Nothing handed in", 0, posed)
        return
    report = entry.report
    if entry.handed.fault:
        yield _state("No program", 0, posed)
    elif report is None:
        yield _state("Not graded yet", None, posed)
    else:
        passes = report.verdict is Verdict.PASS
        yield _state("Passes" if passes else "Does not pass", entry.points, posed)
    if entry.late:
        yield Paragraph(_late(entry, terms))
    if entry.handed.fault:
        yield Paragraph(f"There is no program in {entry.handed.path}: {entry.handed.fault}.")
    elif report is None:
        yield Paragraph(NOT_GRADED)
    else:
        yield from map(Item, _parts(report))
        yield from told(seen(withheld(report), posed.hidden))


def _state(state: str, points: int | None, posed: Posed) -> Block:
    if points is None:
        return Paragraph("", f"{state}.")
    times = "" if posed.weight == 1 else f", which count {_exact(Decimal(str(posed.weight)))} times"
    return Paragraph(f"{points} of {quantity(posed.of, 'point')}{times}", f"{state}:")


def _late(entry: Entry, terms: Terms) -> str:
    if entry.handed.late or not (entry.handed.at and terms.deadline):
        return "Late, as the learning platform says."
    try:
        deadline = datetime.fromisoformat(terms.deadline)
        at = datetime.fromisoformat(entry.handed.at).astimezone(deadline.tzinfo)
    except (ValueError, OverflowError):  # the last hours of the year 9999, in another zone
        return "Late."
    form = "%Y-%m-%d %H:%M"
    return f"Late: handed in {at:{form}}, the deadline was {deadline:{form} %z}."


def _parts(report: Report) -> Iterator[str]:
    """What became of each part that counts, where there are several or points are shared."""
    if len(report.parts) < 2 and not any(check.of for check in report.checks):
        return
    for number, part in enumerate(report.parts, 1):
        if part.of:
            word = "passes" if part.verdict is Verdict.PASS else "does not pass"
            word = "not asked yet" if part.verdict is Verdict.SKIPPED else word
            yield f"Part {number} {word}: {part.points} of {quantity(part.of, 'point')}"


def told(shown: Seen) -> Iterator[Block]:
    """What a grade has found, of as much of a report as may be seen."""
    several = len(shown.report.parts) > 1
    for number in shown.unseen if several else shown.unseen[:1]:
        yield Paragraph(f"{UNSEEN.removesuffix('.')} in part {number}." if several else UNSEEN)
    # Where an idea is left out, nothing is said of there being none.
    yield from grade.told(shown.report, complete=not (shown.left_out or shown.unseen))


def to_html(said: Sequence[Block]) -> str:
    """A page that stands alone, runs nothing and asks for nothing."""
    first = said[0]
    name = inert(first.title).replace("\xa0", " ") if isinstance(first, Heading) else ""
    return Template(_PAGE.read_text("utf-8")).substitute(
        title=html.escape(name), body=render_html(said)
    )


def to_markdown(said: Sequence[Block]) -> str:
    """The same as Markdown."""
    return render_markdown(said)
