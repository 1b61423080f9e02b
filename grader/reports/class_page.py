"""A class as one page of HTML: it stands alone, runs nothing and asks for nothing.

Every text goes through two doors: what would act instead of being seen becomes its escape, then
whatever HTML reads as markup is escaped by the template.  Names are never ids or links: these are
counted.  The page comes in pieces, a student at a time, so that a large class needs no more memory
than its findings.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from grader.model.findings import Asked, Attempts, Cell, Findings, Standing, Student
from grader.model.numerals import quantity
from grader.reports import class_words as words
from grader.reports.blocks import render_html
from grader.reports.class_student import StudentPage, student_page
from grader.reports.inert import inert

TEMPLATES = Path(__file__).parent / "templates"
_LONGEST = 4000  # characters of one text
_NAME = 120  # of a name, which is shown often
_TOP = 10  # ideas of all questions that are shown first
_MARKS = {  # what a cell begins with, so that no color is needed
    Standing.PASSED: "\u2713", Standing.NOT_GRADED: "?", Standing.NO_PROGRAM: "\u2205",
    Standing.MISSING: "\u2013",
}  # fmt: skip
_WRONG = "\u2717"


class _Top(NamedTuple):
    """An idea among those of all questions."""

    id: str
    name: str
    question: str
    students: int
    share: str
    line: str


def class_page(found: Findings, attempts: Iterable[Attempts], results: str) -> Iterator[str]:
    """A class as a page, in pieces.

    Args:
        found: what follows from it.
        attempts: what counts of each student and question, with all hand-ins, student by student;
            read while the page is written.
        results: the folder of results, as it is typed in commands.
    """
    anchor = {student.id: f"s{number}" for number, student in enumerate(found.students, 1)}
    called = {one.id: _called(one) for one in found.students}
    css = (TEMPLATES / "class.css").read_text(encoding="utf-8")
    made = _template().generate(
        css=Markup(css),
        title=found.terms.title or "A class",
        open_ends=list(words.open_ends(found)),
        columns=words.COLUMNS,
        stopped=Standing.STOPPED,
        about_stopped=words.STOPPED,
        figures=list(_figures(found)),
        about=list(words.about(found)),
        found=found,
        questions=[_question(asked) for asked in found.asked],
        standings=[one for one in Standing if any(asked.standings[one] for asked in found.asked)],
        top=_top(found),
        spreads=[one for one in (found.scores, found.times, found.seconds) if one.counts],
        pages=_pages(found, attempts),
        legend=_legend(found),
        anchor=anchor,
        called=called,
        results=results,
        starters=words.STARTERS,
        groups_rule=words.GROUPS_RULE,
        equal_rule=words.EQUAL_RULE,
        same_rule=words.SAME_RULE,
        bar=bar,
        as_html=lambda blocks: Markup(render_html(blocks)),
        over_time=over_time,
        cell_mark=cell_mark,
        points=words.points,
        remarks=words.remarks,
        held_by=words.held_by,
        new_idea=words.new_idea,
    )
    yield from map(str, made)  # not as markup, to which nobody can add text


def _called(student: Student) -> str:
    name = f" ({inert(student.name, _NAME)})" if student.name else ""
    return f"{inert(student.id, _NAME)}{name}"


@functools.cache
def _template() -> Template:
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
    ).get_template("class.html")


def _shown(value: object) -> object:
    """What a template writes: text without anything that acts; markup of our own as it is."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return inert(str(value).replace("\xa0", " "), _LONGEST)
    return value


def _pages(found: Findings, attempts: Iterable[Attempts]) -> Iterator[StudentPage]:
    known = {student.id: student for student in found.students}
    for student, theirs in groupby(attempts, key=lambda one: one[0].handed.student):
        if student in known:  # else it was handed in since
            yield student_page(known[student], list(theirs), found.terms.deadline)


def _figures(found: Findings) -> Iterator[tuple[str, str]]:
    yield "students", f"{len(found.students):,}"
    yield "passed all" if len(found.asked) > 1 else "passed", f"{found.passed:,}"
    if found.mean is not None and found.median is not None:
        yield f"mean of {words.points(found.of)} points", f"{found.mean:.1f}"
        yield "median", f"{found.median:.1f}"


def _legend(found: Findings) -> str:
    used = {cell.standing for student in found.students for cell in student.cells}
    said = {
        Standing.PASSED: "passes", Standing.NO_PROGRAM: "no program in the file",
        Standing.NOT_GRADED: "not graded, for no fault of the student's",
        Standing.MISSING: "nothing handed in",
    }  # fmt: skip
    marks = [f"{_MARKS[one]} {text}" for one, text in said.items() if one in used]
    if used - said.keys():
        marks.insert(1, f"{_WRONG} does not pass")
    return f"Points, and: {', '.join(marks)}. Totals are weighted."


def cell_mark(cell: Cell) -> str:
    """A student's cell on the page: a mark, points, and how it ended if not as usual."""
    mark = _MARKS.get(cell.standing, _WRONG)
    if cell.standing is Standing.NOT_GRADED:
        return f"{mark} not graded"
    if cell.standing is Standing.MISSING:
        return mark
    said = "" if cell.verdict in {"pass", "fail", ""} else f" {cell.verdict}"
    return f"{mark} {cell.points}{said}"


def _question(asked: Asked) -> dict[str, Any]:
    passed = asked.standings[Standing.PASSED]
    said = f"{passed} of {quantity(sum(asked.standings.values()), 'student')} passed."
    if asked.several:
        said += f" {quantity(asked.several, 'student')} handed in more than once."
    return {
        "asked": asked,
        "summary": said,
        "most": asked.judged,  # a full bar is the whole class
        "starters": asked.standings[Standing.STARTER],
        "several": [group for group in asked.groups if len(group.students) > 1],
        "single": [group for group in asked.groups if len(group.students) == 1],
    }


def _top(found: Findings) -> list[_Top]:
    every = [
        _Top(f"q{q}-i{i}", idea.id, asked.posed.id, len(idea.students),
             words.share(idea.share), next(iter(idea.lines), ""))
        for q, asked in enumerate(found.asked, 1)
        for i, idea in enumerate(asked.ideas, 1)
        if idea.students
    ]  # fmt: skip
    return sorted(every, key=lambda one: -one.students)[:_TOP]


def bar(value: int, most: int, kind: str = "bar") -> Markup:
    """A bar beside its number, which says the same: nothing to be read out."""
    width = max(100 * value / most, 1) if value and most else 0
    if not width:
        return Markup("")
    return Markup(
        '<svg class="{}" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        '<rect width="{}" height="10"/></svg>'
    ).format(kind, f"{width:.1f}")


def over_time(labels: Sequence[str], held: Sequence[int], everything: Sequence[int]) -> Markup:
    """Columns for intervals of time: hand-ins that hold an idea, before the outlines of all."""
    texts = [f"{at}: {n} of {of}" for at, n, of in zip(labels, held, everything, strict=True)]
    shapes = []
    for kind, counts, width in (("all", everything, 10), ("held", held, 6)):
        most = max(counts, default=0)
        for number, count in enumerate(counts):
            if count:
                height = max(30 * count / most, 1.5)
                left = number * 12 + (12 - width) // 2
                shapes.append(
                    f'<rect class="{kind}" x="{left}" y="{31 - height:.1f}" width="{width}" '
                    f'height="{height:.1f}"/>'
                )
    across = 12 * len(labels)
    return Markup(
        '<svg class="time" role="img" viewBox="0 0 {0} 32" preserveAspectRatio="none">'
        '<title>hand-ins that hold it: {1}</title>{2}<line x1="0" y1="31" x2="{0}" y2="31"/></svg>'
    ).format(across, "; ".join(texts), Markup("".join(shapes)))
