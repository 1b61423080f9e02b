"""The report of a class as an HTML page.

The page stands alone: it fetches nothing, and its policy lets one script run, which finds students.
Every text in it goes through the renderers of blocks, which show it as text only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape

from grader.classroom.report import (
    MAX_NAME_LENGTH,
    ClassFindings,
    StudentSummary,
    by_student,
    class_blocks,
    result_text,
)
from grader.model.classroom import ClassEntry
from grader.reports.blocks import (
    Blocks,
    Heading,
    Item,
    Paragraph,
    render_html,
)
from grader.reports.grade import student_feedback_blocks
from grader.reports.html import html_page
from grader.reports.text_layout import escape_line

_MAX_WORDS_LENGTH = 4000  # of the search words of a student


# A student is shown if every typed word is among their words; without scripts all are shown.
FINDER = """\
const box = document.getElementById("find"), field = box.querySelector("input");
const said = box.querySelector("output"), spaced = text => text.replace(/\\s+/g, " ");
const plain = text => spaced(text).toLowerCase();
const all = [...document.querySelectorAll("details[data-words]")];
const rows = new Map([...document.querySelectorAll("table tr")].map(
  row => [spaced(row.cells[0].textContent), row]));
field.addEventListener("input", () => {
  const words = plain(field.value).split(" ");
  const fitting = all.filter(one => {
    const fits = words.every(word => plain(one.dataset.words).includes(word));
    const row = rows.get(spaced(one.dataset.id));
    one.hidden = !fits;
    if (row) row.hidden = !fits;
    return fits;
  });
  said.textContent = `${fitting.length} of ${all.length} students`;
});
box.hidden = false;
"""


_FINDER_FIELD = (  # the script shows it
    '<p id="find" hidden><label>Find students <input type="search" size="30" '
    'placeholder="a name, fail, an idea, late"></label> <output></output></p>\n'
)


def class_page(
    findings: ClassFindings, entries: Iterable[ClassEntry], results: str
) -> Iterator[str]:
    """Give the page of a class in pieces.

    The entries are read while the page is written, because they may be many; those of a student
    must be adjacent. `results` is the path of the folder of results.
    """

    def body() -> Iterator[str]:
        yield _FINDER_FIELD
        yield render_html(class_blocks(findings, results, None))
        yield "<h2>Students</h2>\n"
        students = {student.id: student for student in findings.students}
        for student_id, by_question in by_student(entries):
            student = students.get(student_id)
            if student is not None:  # else it was stored after the findings were made
                yield from _student_details(student, by_question)

    return html_page(findings.terms.title or "A class", body(), FINDER)


def _student_details(student: StudentSummary, entries: Mapping[str, ClassEntry]) -> Iterator[str]:
    """Give everything about a student as a `<details>` element, which the finder can search."""
    name = f"{student.id} ({student.name})" if student.name else student.id
    words = _escape_html(
        " ".join([name, student.email, *_search_words(student)]), _MAX_WORDS_LENGTH
    )
    shown_id = _escape_html(student.id, MAX_NAME_LENGTH)
    attributes = f'data-id="{shown_id}" data-words="{words}"'
    yield f"<details {attributes}><summary>{_escape_html(name)}</summary>\n"
    yield render_html(_student_blocks(student, entries))
    yield "</details>\n"


def _escape_html(text: str, max_length: int = 2 * MAX_NAME_LENGTH) -> str:
    return escape(escape_line(text, max_length).replace("\xa0", " "))


def _search_words(student: StudentSummary) -> Iterator[str]:
    """Give the search words of a student, such as QUESTION:VERDICT and QUESTION:late."""
    for result in student.results:
        words = [result.verdict.replace(" ", "-")]
        if result.late:
            words.append("late")
        if result.by_hand:
            words.append("by-hand")
        for word in (*words, *result.ideas, result.group):
            if word:
                yield f"{result.question}:{word}"


def _student_blocks(student: StudentSummary, entries: Mapping[str, ClassEntry]) -> Blocks:
    """Give everything about a student by question, hidden checks and output included."""
    if student.email:
        yield Paragraph(student.email)
    for result in student.results:
        yield Heading(result.question, result_text(result, shows_cause=True), level=3)
        entry = entries.get(result.question)
        if entry is None:
            continue
        facts = [
            f"handed in {entry.hand_in.at}" if entry.hand_in.at else "",
            entry.hand_in.path,
            f"in the group of equal answers {result.group}" if result.group else "",
        ]
        yield Paragraph("; ".join(filter(None, facts)))
        if entry.note:
            yield Paragraph(entry.note, "Not graded:" if entry.points is None else "")
        report = entry.report
        if report is not None:
            if len(report.parts) > 1:
                for number, part in enumerate(report.parts, 1):
                    yield Item(f"part {number} {part.verdict}: {part.points} of {part.of}")
            yield from student_feedback_blocks(report)
