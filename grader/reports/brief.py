"""A question as an interviewer hands it over: a page that fits a screen, and a document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.model.question import Question
from grader.reports import sheet
from grader.reports.question import allowances
from grader.reports.sheet import Line

LEAST_ROWS = 23  # of a page: a screen of 24 with the prompt below it
_DEF = re.compile(r"^def\s+(.*?)(:(?:\s*\.\.\.)?)?\s*(?:#.*)?$")
_RETURN = re.compile(r"^\s+return\s+(.*?)\s*(?:#.*)?$")


def page(
    question: Question, asked: int, ending: Sequence[Line], width: int, rows: int
) -> list[Line]:
    """The part that is asked now, with signatures for the interface, on one screen.

    The prompt is never cut. Clauses that do not fit are counted: QUESTION.md has them all.

    Args:
        question: what is asked.
        asked: the number of the part, from 1.
        ending: what to do now; it stands last.
        width: of the page, in columns.
        rows: that there are for it.
    """
    part = question.spec.parts[asked - 1]
    above = [_head(question, asked, asked, width), "", *sheet.prose(part.prompt, width), ""]
    clauses = [_clause(number, text, width) for number, text in _numbered(question, asked, asked)]
    room = max(rows, LEAST_ROWS) - len(above) - len(ending) - bool(clauses)
    whole = [f"  {line}".rstrip() for line in part.interface.strip("\n").split("\n")]
    short = [f"  {line}" for line in signatures(part.interface)]
    interface = whole if len(whole) + 1 + sum(map(len, clauses)) <= room else short
    if part.interface:
        above += [*interface, ""]
        room -= len(interface) + 1
    shown = _fitting(clauses, room)
    lines = above + [line for clause in shown for line in clause]
    if left := len(clauses) - len(shown):
        more = "more " if shown else ""
        lines.append(f"  {left} {more}{'clauses are' if left > 1 else 'clause is'} in QUESTION.md")
    return [*lines, *([""] if clauses else []), *ending]


def document(question: Question, asked: int, width: int) -> list[Line]:
    """All that is asked up to a part."""
    lines: list[Line] = [_head(question, 1, asked, width)]
    parts = question.spec.parts
    for number, part in enumerate(parts[:asked], 1):
        if number > 1:
            words = f"Part {number} of {len(parts)}"
            lines += ["", sheet.bold(words, f", {part.minutes} min, {part.points} points")]
        lines += ["", *sheet.prose(part.prompt, width)]
        if part.interface:
            lines += ["", sheet.bold("Interface")]
            lines += [f"  {line}".rstrip() for line in part.interface.strip("\n").split("\n")]
        clauses = [_clause(n, text, width) for n, text in _numbered(question, number, number)]
        if clauses:
            lines += ["", sheet.bold("Contract"), *(line for clause in clauses for line in clause)]
    return lines


def signatures(interface: str) -> list[str]:
    """What an interface says of calls alone: `forward(x, kernel) -> y, ctx`.

    One that has no `def` is taken as it is.
    """
    source = interface.strip("\n").split("\n")
    found: list[str] = []
    open_ = False
    for line in source:
        if open_:
            found[-1] += f" {line.strip()}"
            open_ = not line.rstrip().endswith(":")
            found[-1] = found[-1].rstrip(":")
        elif head := _DEF.match(line):
            found.append(head[1])
            open_ = not head[2]
        elif (result := _RETURN.match(line)) and found and " -> " not in found[-1]:
            found[-1] += f" -> {result[1]}"
    return found or [line.rstrip() for line in source if line.strip()]


def _head(question: Question, first: int, last: int, width: int) -> Line:
    """The id and the title at the left; what it takes at the right."""
    spec = question.spec
    parts = spec.parts[first - 1 : last]
    which = f"part {last} of {len(spec.parts)}, " if len(spec.parts) > 1 and first == last else ""
    minutes = sum(part.minutes for part in parts)
    terms = f"{which}{minutes} min, {spec.level}, {' and '.join(spec.uses)}"
    title = f"  {spec.title}"
    gap = width - sheet.cells(question.id + title + terms)
    return sheet.bold(question.id, f"{title}{' ' * max(gap, len(sheet.GAP))}{terms}")


def _numbered(question: Question, first: int, last: int) -> Iterator[tuple[str, str]]:
    """The clauses of some parts by number; what else is allowed or excluded has none."""
    parts = question.spec.parts
    number = sum(len(part.contract) for part in parts[: first - 1])
    for part in parts[first - 1 : last]:
        for clause in part.contract:
            number += 1
            yield str(number), clause
    yield from (("-", sentence) for sentence in dict.fromkeys(allowances(question, first, last)))


def _clause(number: str, text: str, width: int) -> list[str]:
    return sheet.wrapped(" ".join(text.split()), width, first=f"{number:>3} ")


def _fitting(clauses: Sequence[list[str]], room: int) -> Sequence[list[str]]:
    """As many as fit, with a line for those that do not."""
    if sum(map(len, clauses)) <= room:
        return clauses
    count, used = 0, 1
    while count < len(clauses) and used + len(clauses[count]) <= room:
        used += len(clauses[count])
        count += 1
    return clauses[:count]
