"""A question as an interviewer hands it over: a page that fits a screen, and a document."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.forms import registry as forms
from grader.model.question import Question
from grader.model.spec import Part
from grader.reports import sheet
from grader.reports.prose import prose
from grader.reports.question import asked_parts, runs
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
    now = asked_parts(question, asked)[-1]
    above = [*_head(question, now.part, asked, width), "", *prose(now.part.prompt, width), ""]
    clauses = [_clause(mark, text, width) for mark, text in now.clauses]
    room = max(rows, LEAST_ROWS) - len(above) - len(ending) - bool(clauses)
    whole = [f"  {line}".rstrip() for line in now.part.interface.strip("\n").split("\n")]
    short = [f"  {line}" for line in signatures(now.part.interface)]
    interface = whole if len(whole) + 1 + sum(map(len, clauses)) <= room else short
    if now.part.interface:
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
    lines: list[Line] = [*_head(question, None, asked, width)]
    if before := question.spec.prerequisites:
        lines += sheet.wrapped(f"Better after {' and '.join(before)}.", width)
    for one in asked_parts(question, asked):
        lines += ["", sheet.bold(one.heading)] if one.heading else []
        lines += ["", *prose(one.part.prompt, width)]
        if one.part.interface:
            lines += ["", sheet.bold("Interface")]
            lines += [f"  {line}".rstrip() for line in one.part.interface.strip("\n").split("\n")]
        if one.clauses:
            lines += ["", sheet.bold("Contract")]
            lines += [line for mark, text in one.clauses for line in _clause(mark, text, width)]
        if one.questions:
            lines += ["", sheet.bold("Questions")]
        for name, ask, answers in one.questions:
            lines += ["", *sheet.wrapped(f"{name}: {' '.join(ask.split())}", width, first="  ")]
            for letter, text in answers.items():
                lines += _clause(f"  {letter}", " ".join(text.split()), width)
    for shown in forms.of(question.spec).materials(question.spec):
        lines += ["", sheet.bold(shown.heading)]
        lines += [f"  {line}".rstrip() for line in shown.text.splitlines()]
        widest = max((sheet.cells(name) for name, _ in shown.rows), default=0)
        for name, text in shown.rows:
            lines += sheet.wrapped(text, width, first=f"  {name:<{widest}}  ")
    if question.spec.experiments is not None:
        lines += ["", *prose(runs(question), width)]
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


def _head(question: Question, part: Part | None, number: int, width: int) -> list[Line]:
    """The id and the title at the left; what it takes, or one of its parts, at the right."""
    spec = question.spec
    which = f"part {number} of {len(spec.parts)}, " if part and len(spec.parts) > 1 else ""
    minutes = part.minutes if part else spec.minutes
    terms = f"{which}{minutes} min, {spec.level}, {' and '.join(spec.uses)}"
    gap = width - sheet.cells(f"{question.id}  {spec.title}{terms}")
    if gap < len(sheet.GAP):  # below them, where there is no room
        return [sheet.bold(question.id, f"  {spec.title}"), f"    {terms}"]
    return [sheet.bold(question.id, f"  {spec.title}{' ' * gap}{terms}")]


def _clause(mark: str, text: str, width: int) -> list[str]:
    return sheet.wrapped(text, width, first=f"{mark.removesuffix('.'):>3} ")


def _fitting(clauses: Sequence[list[str]], room: int) -> Sequence[list[str]]:
    """As many as fit, with a line for those that do not."""
    if sum(map(len, clauses)) <= room:
        return clauses
    count, used = 0, 1
    while count < len(clauses) and used + len(clauses[count]) <= room:
        used += len(clauses[count])
        count += 1
    return clauses[:count]
