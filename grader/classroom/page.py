"""What a class shows, for whoever teaches it: on a terminal, read aloud, or as one page of HTML.

The page of HTML stands alone: no script, nothing fetched.  Every text in it goes through the
renderers of blocks, which let none act or be read as markup.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby

from grader.classroom.findings import (
    AnswerGroup,
    ClassFindings,
    HeldIdea,
    QuestionFindings,
    Standing,
    Student,
    StudentResult,
)
from grader.model.classroom import Entry
from grader.model.numerals import quantity
from grader.reports.blocks import (
    Block,
    Code,
    Figure,
    Gap,
    Heading,
    Item,
    Paragraph,
    Table,
    render_html,
)
from grader.reports.grade import told
from grader.reports.sheet import Line, cells, inert, padded

STARTERS = "The starter holds its ideas by design: whoever hands it in unchanged counts for none."
GROUPS = (
    "Wrong answers that no listed idea gives, together where all that they compute is equal. One "
    "feedback serves a whole group; equal results are no accusation: many people make the same "
    "mistake by themselves."
)
_BAR = 24  # cells of the longest bar
_NAME = 120  # characters of a name
_SHORT = {
    Standing.PASSED: "pass",
    Standing.NO_PROGRAM: "no program",
    Standing.NOT_GRADED: "not graded",
    Standing.MISSING: "-",
}
CSS = """\
:root { color-scheme: light dark; --page: #fdfdfc; --ink: #1d1f21; --soft: #5a5f66;
  --line: #d9dbde; --band: #f3f4f5; }
@media (prefers-color-scheme: dark) { :root { --page: #17191c; --ink: #e4e6e8; --soft: #a3a9b0;
  --line: #383c42; --band: #202327; } }
body { margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 52rem; background: var(--page);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .25rem; padding-top: .75rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p, ul { margin: .5rem 0; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
pre { padding: .6rem .75rem; background: var(--band); overflow-x: auto; line-height: 1.35; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); }
.soft { color: var(--soft); }
@media print { body { max-width: none; padding: 0; } pre { white-space: pre-wrap; } }
"""


def points(value: float) -> str:
    """Points as they are written: whole ones whole."""
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def summary(found: ClassFindings) -> str:
    """The class in a sentence or two."""
    passed = f"{found.passed} passed" + (" all questions" if len(found.questions) > 1 else "")
    texts = [quantity(len(found.students), "student"), passed]
    if found.mean is not None and found.median is not None:
        texts.append(
            f"mean {found.mean:.1f} and median {found.median:.1f} of {points(found.of)} points"
        )
    said = f"{', '.join(texts)}."
    if left := found.unfinished:
        have = "has something that is not graded yet and counts" if left == 1 else (
            "have something that is not graded yet and count"
        )  # fmt: skip
        said += f" {quantity(left, 'student')} {have} in no average."
    return said


def class_blocks(found: ClassFindings, results: str, most: int | None = 8) -> Iterator[Block]:
    """Everything that follows from a class.

    Args:
        found: what follows.
        results: the folder of results, as it is typed in commands.
        most: students of a group that are named.
    """
    terms = found.terms
    yield Heading(terms.title or "A class", level=1)
    yield Paragraph(summary(found))
    deadline = f" What came after {terms.deadline} is marked." if terms.deadline else ""
    yield Paragraph(
        f"The {terms.counts} file of a student for a question counts.{deadline} "
        f"Seed {terms.seed}, isolation {terms.level} at least, drill {terms.program}."
    )
    yield Gap()
    head = ("student", "name", *(one.question.id for one in found.questions), "points")
    rows = (
        (_cut(one.id), _cut(one.name), *map(_said, one.results), _total(found, one))
        for one in found.students
    )
    yield Table(head, tuple(rows))
    for asked in found.questions:
        yield Gap()
        yield from _question(asked, results, most)
    if found.scores:
        yield Gap()
        yield Heading("Points, of all")
        yield _bars(found.scores)


def _total(found: ClassFindings, one: Student) -> str:
    said = f"{points(one.so_far)} of {points(found.of)}"
    return said if one.points is not None else f"{said} so far"


def _said(one: StudentResult) -> str:
    """A student's result: points, verdict, whether it came late."""
    said = _SHORT.get(one.standing, one.verdict)
    if one.standing not in {Standing.NOT_GRADED, Standing.MISSING} and one.points is not None:
        said = f"{one.points} {said}"
    return f"{said}, late" if one.late else said


def _question(asked: QuestionFindings, results: str, most: int | None) -> Iterator[Block]:
    """What the class shows of a question, naming at most so many students of each kind."""
    yield Heading(asked.question.title, name=asked.question.id)
    yield _bars({str(one): count for one, count in asked.standings.items() if count})
    yield Gap()
    if asked.ideas:
        facts = f"of {quantity(asked.judged, 'student')}"
        yield Heading("Ideas that the class holds", facts, level=3)
        for idea in asked.ideas:
            yield from _idea(idea, asked, most)
        if asked.standings.get(Standing.STARTER):
            yield Paragraph(STARTERS)
    else:
        yield Paragraph("No listed idea shows.")
    if asked.groups:
        yield Gap()
        yield Heading("Equal answers that no listed idea gives", level=3)
        yield Paragraph(GROUPS)
        several = [group for group in asked.groups if len(group.students) > 1]
        for group in several:
            yield from _group(group, results, most)
        if single := len(asked.groups) - len(several):
            more = "more " if several else ""
            said = quantity(single, f"{more}answer", f"{more}answers")
            yield Paragraph(f"{said} that nobody shares")


def _idea(idea: HeldIdea, asked: QuestionFindings, most: int | None) -> Iterator[Block]:
    facts = [f"{len(idea.students)} of {asked.judged}, {round(100 * idea.share)} %"]
    facts += [f"part {number}: {count}" for number, count in idea.by_part.items()]
    yield Paragraph(", ".join(facts), idea.id, hang=4)
    if idea.line:
        yield Paragraph(idea.line, indent=4)
    if idea.unsure:
        yield Paragraph(f"{len(idea.unsure)} more: it fits a part of what is wrong", indent=4)
    if idea.students:
        yield Paragraph(_people(idea.students, most), indent=4)


def _group(group: AnswerGroup, results: str, most: int | None) -> Iterator[Block]:
    files = quantity(group.files, "different file")
    yield Paragraph(f"{_people(group.students, most)} ({files})", group.handle, hang=4)
    for text in (group.sentence, *group.also[:2]):
        yield Paragraph(text, indent=4)
    command = (
        f"drill bank new-idea {shlex.quote(group.question)} --from {shlex.quote(results)} "
        f"{shlex.quote(group.handle)} --name NAME"
    )
    yield Code((command,))


def _people(students: Sequence[str], most: int | None) -> str:
    """How many, and the first of them."""
    named = ", ".join(map(_cut, students[:most]))
    return f"{quantity(len(students), 'student')}: {named}" + (
        ", ..." if most is not None and len(students) > most else ""
    )


def _cut(name: str) -> str:
    return inert(name[:_NAME]) + ("..." if len(name) > _NAME else "")


def _bars(counts: Mapping[str, int]) -> Figure:
    """A bar for each count, the largest filling the room there is."""
    most = max(counts.values(), default=0)
    across = max(map(cells, counts), default=0)

    def draw(_width: int) -> Iterator[Line]:
        for label, count in counts.items():
            bar = "#" * (max(1, round(_BAR * count / most)) if count else 0)
            yield f"  {padded(label, across)}  {count:>{len(str(most))}}  {bar}".rstrip()

    return Figure(draw, tuple(f"{label}: {count}" for label, count in counts.items()))


# HTML


def framed(title: str, body: Iterable[str]) -> Iterator[str]:
    """A page of HTML that stands alone, in pieces."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="robots" content="noindex">\n'
        f"<title>{escape(inert(title))}</title>\n<style>\n{CSS}</style>\n</head>\n<body>\n<main>\n"
    )
    yield from body
    yield "</main>\n</body>\n</html>\n"


def class_page(found: ClassFindings, entries: Iterable[Entry], results: str) -> Iterator[str]:
    """A class as a page, a student at a time: a large class needs no more memory than its findings.

    Args:
        found: what follows from it.
        entries: what counts of each student and question, student by student; read while the page
            is written.
        results: the folder of results, as it is typed in commands.
    """

    def body() -> Iterator[str]:
        yield render_html(class_blocks(found, results, None))
        yield "<h2>Students</h2>\n"
        known = {one.id: one for one in found.students}
        for student, theirs in groupby(entries, key=lambda one: one.handed.student):
            if one := known.get(student):  # else it was handed in since
                name = f" ({_cut(one.name)})" if one.name else ""
                yield f"<details><summary>{_html(_cut(one.id) + name)}</summary>\n"
                yield render_html(_student(one, list(theirs)))
                yield "</details>\n"

    return framed(found.terms.title or "A class", body())


def _html(text: str) -> str:
    return escape(inert(text.replace("\xa0", " "), 1000))


def _student(student: Student, entries: Sequence[Entry]) -> Iterator[Block]:
    """Everything about a student, question by question, with hidden checks and what it printed."""
    found = {one.question.id: one for one in entries}
    if student.email:
        yield Paragraph(student.email)
    for result in student.results:
        entry = found.get(result.question)
        yield Heading(result.question, _said(result), level=3)
        if entry is None:
            continue
        when = f"handed in {entry.handed.at}" if entry.handed.at else ""
        group = f"in the group of equal answers {result.group}" if result.group else ""
        yield Paragraph("; ".join(filter(None, (when, entry.handed.path, group))))
        if entry.note:
            yield Paragraph(entry.note, "Not graded:" if entry.points is None else "")
        if entry.report is not None:
            if len(entry.report.parts) > 1:
                for number, part in enumerate(entry.report.parts, 1):
                    yield Item(f"part {number} {part.verdict}: {part.points} of {part.of}")
            yield from told(entry.report)
