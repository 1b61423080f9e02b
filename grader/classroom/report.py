"""What follows from all grades of a class, and how whoever teaches it is shown that.

An idea counts as held where the report asserts it: it gives exactly the student's numbers, alone or
with another one.  What fits only a part is counted apart.  The starter as it was handed out holds
its ideas by design, so whoever hands it in unchanged counts for none.

The page of HTML stands alone: nothing is fetched, and its policy lets one script run, ours, which
finds students.  Every text in it goes through the renderers of blocks, which let none act or be
read as markup.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from html import escape
from itertools import groupby
from statistics import fmean, median

from grader.model.classroom import AssignedQuestion, ClassEntry, ClassSettings, round_points
from grader.model.number_format import format_count
from grader.model.report import UNREADABLE_TYPE, Report, Verdict
from grader.reports import sentences
from grader.reports.blocks import (
    BlankLine,
    Blocks,
    CodeBlock,
    Heading,
    Item,
    Paragraph,
    Table,
    render_html,
)
from grader.reports.grade import student_feedback_blocks
from grader.reports.html import html_page
from grader.reports.text_layout import escape_line

SHOWN_DIGITS = 8  # of a digest that are shown
_OTHERWISE = {"state", "rule", "class"}  # kinds of explanations that name no listed idea


class AnswerStatus(StrEnum):
    """Where a student stands with a question: exactly one of these."""

    PASSED = "passed"
    IDEA = "holds a listed idea"
    EXPLAINED = "wrong, explained otherwise"  # by a rule, state or a class of cases
    UNEXPLAINED = "wrong, unexplained"
    STOPPED = "stopped, no idea is known"  # raised, or ran into a limit
    STARTER = "starter, unchanged"
    UNANSWERED = "not answered"  # the lines that fail are open, or could not be read
    NO_ANSWER = "no answer in the file"
    NOT_GRADED = "not graded"  # yet, or for a reason that is the grader's
    MISSING = "nothing handed in"


_UNKNOWN = (AnswerStatus.EXPLAINED, AnswerStatus.UNEXPLAINED, AnswerStatus.STOPPED)
JUDGED_STATUSES = (AnswerStatus.PASSED, AnswerStatus.IDEA, *_UNKNOWN, AnswerStatus.UNANSWERED)


@dataclass(frozen=True, slots=True)
class StudentResult:
    """What is known of one student and one question."""

    question: str  # id
    standing: AnswerStatus
    points: int | None  # None: not graded
    verdict: str = "nothing handed in"
    late: bool = False
    note: str = ""  # why it is not graded, has no program, or has other points than it earned
    by_hand: bool = False  # whether its points are a teacher's
    unread: bool = False  # whether lines of its answers could not be read
    ideas: tuple[str, ...] = ()  # listed ones that it holds
    group: str = ""  # of equal wrong results that no idea explains: the first digits
    cause: str = ""  # why nothing of it could be run, in a few words


@dataclass(slots=True)
class StudentSummary:
    """One student: a result for each question, in their order."""

    id: str
    results: tuple[StudentResult, ...] = ()
    points: float | None = None  # with weights; None while something of it is not graded
    so_far: float = 0  # of what is graded
    name: str = ""
    email: str = ""


@dataclass(slots=True)
class ClassIdea:
    """A listed idea that somebody holds in what counts."""

    id: str
    line: str  # the first sentence of its feedback
    students: list[str] = field(default_factory=list)  # who holds it
    share: float = 0.0  # of those whose file was graded and is not the unchanged starter
    unsure: list[str] = field(default_factory=list)  # it fits a part of what is wrong, no more


@dataclass(slots=True)
class AnswerGroup:
    """Wrong results that are equal to each other, to the last case, and that no idea explains."""

    question: str
    handle: str  # the first digits of the digest of what is wrong
    sentence: str  # what the first failing check says
    also: tuple[str, ...] = ()  # what else is known
    students: list[str] = field(default_factory=list)
    files: int = 0  # how many of the students' files differ


@dataclass(slots=True)
class QuestionFindings:
    """What the class shows of one question."""

    question: AssignedQuestion
    standings: dict[AnswerStatus, int] = field(
        default_factory=lambda: dict.fromkeys(AnswerStatus, 0)
    )
    ideas: list[ClassIdea] = field(default_factory=list)  # the commonest first
    judged: int = 0  # students whose file was graded and is not the unchanged starter
    groups: list[AnswerGroup] = field(default_factory=list)  # the largest first


@dataclass(frozen=True, slots=True)
class ClassFindings:
    """What follows from all grades of a class."""

    terms: ClassSettings
    students: tuple[StudentSummary, ...]
    questions: tuple[QuestionFindings, ...]
    of: float  # points, with weights
    mean: float | None  # of the points of those who are graded throughout
    median: float | None
    scores: Mapping[str, int]  # students graded throughout, by their share of all points
    aside: tuple[tuple[str, str], ...] = ()  # files that are no student's answer, and why


def class_findings(terms: ClassSettings, entries: Iterable[ClassEntry]) -> ClassFindings:
    """Return what follows from what counts of each student and question, student by student."""
    questions = {one.id: QuestionFindings(one) for one in terms.questions}
    students, different = [], set[tuple[str, str]]()  # handle of a group, sha256
    for id_, group in groupby(entries, key=lambda entry: entry.hand_in.student):
        student = StudentSummary(id_)
        results = {
            one.id: StudentResult(one.id, AnswerStatus.MISSING, 0) for one in terms.questions
        }
        for entry in group:
            results[entry.question.id] = _result(entry, questions[entry.question.id], different)
            student.name = student.name or entry.hand_in.name
            student.email = student.email or entry.hand_in.email
        student.results = tuple(results.values())
        earned = (one.weighted_points(results[one.id].points or 0) for one in terms.questions)
        student.so_far = round_points(sum(earned))
        graded = all(one.points is not None for one in student.results)
        student.points = student.so_far if graded else None
        students.append(student)
    for at, question in enumerate(questions.values()):
        question.standings |= Counter(one.results[at].standing for one in students)
        question.judged = sum(question.standings[one] for one in JUDGED_STATUSES)
        for idea in question.ideas:
            idea.share = len(idea.students) / question.judged
        question.ideas.sort(key=lambda one: (-len(one.students), one.id))
        question.groups.sort(key=lambda one: (-len(one.students), one.handle))
    students.sort(key=lambda one: (one.id.casefold(), one.id))
    known = [one.points for one in students if one.points is not None]
    tenths = Counter(
        min(10, int(10 * one / terms.max_points + 1e-9)) if terms.max_points else 0 for one in known
    )
    labels = [*(f"{n * 10} to {n * 10 + 10} %" for n in range(10)), "100 %"]
    return ClassFindings(
        terms,
        tuple(students),
        tuple(questions.values()),
        terms.max_points,
        mean=fmean(known) if known else None,
        median=median(known) if known else None,
        scores={label: tenths[n] for n, label in enumerate(labels)} if known else {},
    )


def answer_status(entry: ClassEntry) -> AnswerStatus:
    """Return where a student stands with a question."""
    report = entry.report
    if not entry.hand_in.path:  # it has points by hand, no more
        return AnswerStatus.MISSING
    if entry.hand_in.fault:
        return AnswerStatus.NO_ANSWER
    if report is None:
        return AnswerStatus.NOT_GRADED
    if report.verdict is Verdict.PASS:
        return AnswerStatus.PASSED
    if report.unchanged:
        return AnswerStatus.STARTER
    if certain_ideas(report):
        return AnswerStatus.IDEA
    if any(one.kind in _OTHERWISE for one in report.explanations):
        return AnswerStatus.EXPLAINED
    failing = sentences.failing_required_checks(report)
    if failing and all(check.message.endswith(" no answer yet") for check in failing):
        return AnswerStatus.UNANSWERED
    return AnswerStatus.UNEXPLAINED if report.verdict is Verdict.FAIL else AnswerStatus.STOPPED


def certain_ideas(report: Report) -> tuple[str, ...]:
    """Return the listed ideas that a report says are held: exactly, or as two together."""
    together = any(e.kind == "pair" for e in report.explanations) and len(report.misconceptions) > 1
    return tuple(one.id for one in report.misconceptions if one.exact or together)


def _result(
    entry: ClassEntry, question: QuestionFindings, different: set[tuple[str, str]]
) -> StudentResult:
    """Return what is known of what a student handed in, and count it for its question."""
    stands = answer_status(entry)
    student = entry.hand_in.student
    report = entry.report
    result = StudentResult(
        entry.question.id, stands, entry.points, entry.verdict, entry.late, entry.note,
        entry.override is not None, report is not None and report.unread != (),
        cause=_load_failure(entry),
    )  # fmt: skip
    if report is None or stands not in JUDGED_STATUSES:
        return result
    held = certain_ideas(report) if stands is AnswerStatus.IDEA else ()
    handle = report.outputs[:SHOWN_DIGITS] if stands in _UNKNOWN else ""
    for one in report.misconceptions:
        if one.id not in [known.id for known in question.ideas]:
            question.ideas.append(ClassIdea(one.id, sentences.first_sentences(one.feedback, 1)[0]))
        idea = next(known for known in question.ideas if known.id == one.id)
        (idea.students if one.id in held else idea.unsure).append(student)
    if handle:
        if handle not in [known.handle for known in question.groups]:
            question.groups.append(AnswerGroup(result.question, handle, *_said_of(report)))
        group = next(known for known in question.groups if known.handle == handle)
        group.students.append(student)
        group.files += (handle, entry.hand_in.sha256) not in different
        different.add((handle, entry.hand_in.sha256))
    return replace(result, ideas=held, group=handle)


def _load_failure(entry: ClassEntry) -> str:
    """Return why a file did not load, in a few words; nothing if it did."""
    report = entry.report
    if entry.hand_in.fault:
        return "no answer in the file"
    if report is None or report.checks or report.unchanged or report.verdict is Verdict.INVALID:
        return ""
    raised = report.raised
    if raised is None:
        return report.message.partition(":")[0]
    if raised.type == UNREADABLE_TYPE:
        return "no line could be read"
    if raised.is_unparsable_file:
        return "invalid Python"
    if module := re.match(r"No module named '([\w.]+)'", raised.message):
        return f"{raised.type} {module[1]}"
    return "sys.exit" if raised.type == "SystemExit" else raised.type


def load_failures(found: ClassFindings) -> dict[str, list[str]]:
    """Return who handed in a file that did not load, by cause, and for which question."""
    by_cause: dict[str, list[str]] = {}
    for student in found.students:
        for one in student.results:
            if one.cause:
                of = f" ({one.question})" if len(found.questions) > 1 else ""
                by_cause.setdefault(one.cause, []).append(
                    f"{escape_line(student.id, _LONGEST)}{of}"
                )
    return dict(sorted(by_cause.items(), key=lambda item: (-len(item[1]), item[0])))


def _said_of(report: Report) -> tuple[str, tuple[str, ...]]:
    failing = sentences.failing_required_checks(report)
    if not failing:
        return sentences.file_problem(report), ()
    also = tuple(one.text for one in report.explanations if one.kind in _OTHERWISE)
    return f"{failing[0].id}: {sentences.describe_finding(failing[0])}", also


# In a terminal, and read aloud.

STARTER_NOTE = (
    "The starter holds its ideas by design: whoever hands it in unchanged counts for none."
)
GROUPS_NOTE = (
    "Wrong answers that no listed idea gives, together where all that they compute is equal. One "
    "feedback serves a whole group; equal results are no accusation: many people make the same "
    "mistake by themselves."
)
TALK_NOTE = (
    "Whom a conversation may help first, and why: an offer, no judgment. At most ten; what is only "
    "late or has points by hand is no reason."
)
NOT_LOADED_NOTE = (
    "Nothing of these files was graded, so they have 0 points. Look at them: a right answer may be "
    "behind a small mistake. overrides.csv gives points by hand."
)
_MOST_TALKS = 10
_UNLOADED = "did not load"
_WHY = {  # a reason to talk, by where somebody stands with a question; the first come first
    AnswerStatus.NO_ANSWER: "what was handed in holds no answer",
    _UNLOADED: "a file did not load",
    AnswerStatus.STARTER: "the starter was handed in as it was",
    True: "lines of the answers could not be read",
    AnswerStatus.UNEXPLAINED: "wrong in a way that no listed idea explains",
}
_BAR = 24  # cells of the longest bar
_LONGEST = 120  # characters of a name
_SHORT = 40  # of why a file did not load, in a table
_MOST = 4000  # of the words that a student is found by
_MOST_OFFERED = 300  # of these words, where they are typed


def format_points(value: float) -> str:
    """Points as they are written: whole ones whole."""
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def class_summary(found: ClassFindings) -> str:
    """The class in a sentence or two."""
    standings = ({result.standing for result in one.results} for one in found.students)
    passed = sum(theirs == {AnswerStatus.PASSED} for theirs in standings)
    said = f"{format_count(len(found.students), 'student')}, {passed} passed"
    said += " all questions" if len(found.questions) > 1 else ""
    if found.mean is not None:
        of = format_points(found.of)
        said += f", mean {found.mean:.1f} and median {found.median:.1f} of {of} points"
    if left := sum(one.points is None for one in found.students):
        left_out = format_count(left, "student")
        said += f". In no average, because something is not graded yet: {left_out}"
    return f"{said}."


def students_to_talk_to(found: ClassFindings) -> list[tuple[StudentSummary, str]]:
    """Students whom a conversation may help, the first to see first, each with the reasons."""
    listed: list[tuple[int, float, StudentSummary, str]] = []
    for one in found.students:
        reasons: dict[int, str] = {}
        tried = [
            r
            for r in one.results
            if r.standing not in {AnswerStatus.MISSING, AnswerStatus.NOT_GRADED}
        ]
        none = len(tried) > 1 and all(r.standing is not AnswerStatus.PASSED for r in tried)
        wrong = [r for r in one.results if r.standing is not AnswerStatus.PASSED and not r.by_hand]
        if none and one.so_far < (found.median or found.of):
            reasons[0] = f"passed none of {len(tried)} questions"
        if wrong and one.points is not None and one.points < (found.median or 0) / 2:
            reasons[1] = f"{format_points(one.points)} points, less than half of the median"
        for rank, (kind, why) in enumerate(_WHY.items(), 2):
            if ids := [r.question for r in one.results if kind in _reasons(r)]:
                reasons[rank] = f"{why} ({', '.join(ids)})" if len(one.results) > 1 else why
        if reasons:
            listed.append((min(reasons), one.so_far, one, "; ".join(reasons.values())))
    listed.sort(key=lambda row: row[:2])
    return [(one, why) for _, _, one, why in listed[:_MOST_TALKS]]


def _reasons(result: StudentResult) -> set[AnswerStatus | str | bool]:
    """Return the keys of `_WHY` that hold for a result."""
    reasons: set[AnswerStatus | str | bool] = {result.standing, result.unread}
    if result.cause and result.standing is not AnswerStatus.NO_ANSWER and not result.by_hand:
        reasons.add(_UNLOADED)
    return reasons


def class_blocks(found: ClassFindings, results: str, most: int | None = 8) -> Blocks:
    """Everything that follows from a class, with so many students of a group by name."""
    terms = found.terms
    yield Heading(terms.title or "A class", level=1)
    yield Paragraph(class_summary(found))
    deadline = f" What came after {terms.deadline} is marked." if terms.deadline else ""
    if terms.late:
        deadline = f"{deadline[:-1]}, and loses {terms.late.penalty:g} % for each day begun."
    yield Paragraph(
        f"The {terms.counts} file of a student for a question counts.{deadline} "
        f"{'A seed for each student, of' if terms.per_student else 'Seed'} {terms.seed}, "
        f"isolation {terms.level} at least, drill {terms.program}."
    )
    yield BlankLine()
    head = ("student", "name", *(one.question.id for one in found.questions), "points")
    of = format_points(found.of)
    alone = len(found.questions) == 1  # of several, no table with the causes fits a terminal
    rows = [
        (escape_line(one.id, _LONGEST), escape_line(one.name, _LONGEST),
         *(_said(result, cause=alone) for result in one.results),
         f"{format_points(one.so_far)} of {of}{' so far' * (one.points is None)}")
        for one in found.students
    ]  # fmt: skip
    yield Table(head, rows)
    if talks := students_to_talk_to(found):
        yield Heading("Students to talk to", level=3)
        yield Paragraph(TALK_NOTE)
        for one, why in talks:
            name = f" ({escape_line(one.name, _LONGEST)})" if one.name else ""
            yield Paragraph(why, escape_line(one.id, _LONGEST) + name, hang=4)
    if unloaded := load_failures(found):
        yield Heading("Did not load", level=3)
        yield Paragraph(NOT_LOADED_NOTE)
        for cause, people in unloaded.items():
            yield Paragraph(", ".join(people), f"{escape_line(cause, _LONGEST)}:", hang=4)
    for asked in found.questions:
        yield from _question(asked, results, most)
    if found.scores:
        yield Heading("Points, of all")
        yield _bars(found.scores)
    if found.aside:
        yield Heading("Files that are no answer")
        yield from (Item(escape_line(f"{path}: {why}")) for path, why in found.aside)


def _said(one: StudentResult, *, cause: bool) -> str:
    """Return the points and verdict of a result, whether it is late or by hand, and the cause."""
    if one.standing is AnswerStatus.MISSING and not one.by_hand:
        return "-"
    said = one.verdict if one.points is None else f"{one.points} {one.verdict}"
    if cause and one.cause and one.standing is not AnswerStatus.NO_ANSWER:
        said += f" ({escape_line(one.cause, _SHORT)})"
    marked = one.by_hand and one.verdict != "by hand"
    return said + ", late" * one.late + ", by hand" * marked


def _question(asked: QuestionFindings, results: str, most: int | None) -> Blocks:
    """What the class shows of a question, naming at most so many students of each kind."""
    yield Heading(asked.question.title, name=asked.question.id)
    yield _bars({str(one): count for one, count in asked.standings.items() if count})
    yield BlankLine()
    if asked.ideas:
        facts = f"of {format_count(asked.judged, 'student')}"
        yield Heading("Ideas that the class holds", facts, level=3)
        for idea in asked.ideas:
            share = f"{len(idea.students)} of {asked.judged}, {round(100 * idea.share)} %"
            yield Paragraph(share, idea.id, hang=4)
            unsure = f"{len(idea.unsure)} more: it fits a part of what is wrong"
            people = _people(idea.students, most) if idea.students else ""
            for text in filter(None, (idea.line, unsure if idea.unsure else "", people)):
                yield Paragraph(text, indent=4)
        if asked.standings[AnswerStatus.STARTER]:
            yield Paragraph(STARTER_NOTE)
    else:
        yield Paragraph("No listed idea shows.")
    if asked.groups:
        yield Heading("Equal answers that no listed idea gives", level=3)
        yield Paragraph(GROUPS_NOTE)
        several = [group for group in asked.groups if len(group.students) > 1]
        for group in several:
            files = format_count(group.files, "different file")
            yield Paragraph(f"{_people(group.students, most)} ({files})", group.handle, hang=4)
            for text in (group.sentence, *group.also[:2]):
                yield Paragraph(text, indent=4)
            question = shlex.quote(group.question)
            folder = shlex.quote(results)
            command = f"drill bank new-idea {question} --from {folder} {group.handle} --name NAME"
            yield CodeBlock((command,))
        if single := len(asked.groups) - len(several):
            more = "more " if several else ""
            said = format_count(single, f"{more}answer", f"{more}answers")
            yield Paragraph(f"{said} that only one student gave")


def _people(students: Sequence[str], most: int | None) -> str:
    """How many, and the first of them."""
    named = ", ".join(escape_line(one, _LONGEST) for one in students[:most])
    more = ", ..." if most is not None and len(students) > most else ""
    return f"{format_count(len(students), 'student')}: {named}{more}"


def _bars(counts: Mapping[str, int]) -> Table:
    """A bar for each count, the largest filling the room there is."""
    each = {name: _BAR * count / max(counts.values()) for name, count in counts.items() if count}
    bars = {name: "#" * max(1, round(cells)) for name, cells in each.items()}
    rows = [(name, str(count), bars.get(name, "")) for name, count in counts.items()]
    return Table(("", " ", "  "), rows, (" ",), indent=2)


# In HTML.

# Every word that is typed has to stand among those of a student; without scripts nothing is hidden.
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


def class_page(found: ClassFindings, entries: Iterable[ClassEntry], results: str) -> Iterator[str]:
    """A class as a page; `entries`, by student, are read while it is written: they may be many."""

    def body() -> Iterator[str]:
        yield _finder(found)
        yield render_html(class_blocks(found, results, None))
        yield "<h2>Students</h2>\n"
        known = {one.id: one for one in found.students}
        for student, theirs in groupby(entries, key=lambda one: one.hand_in.student):
            if one := known.get(student):  # else it was handed in since
                name = f"{one.id} ({one.name})" if one.name else one.id
                shown = _html(name)
                words = " ".join([name, one.email, *_words(one)])
                marks = f'data-id="{_html(one.id, _LONGEST)}" data-words="{_html(words, _MOST)}"'
                yield f"<details {marks}><summary>{shown}</summary>\n"
                yield render_html(_student(one, {e.question.id: e for e in theirs}))
                yield "</details>\n"

    return html_page(found.terms.title or "A class", body(), FINDER)


def _html(text: str, most: int = 2 * _LONGEST) -> str:
    return escape(escape_line(text, most).replace("\xa0", " "))


def _words(one: StudentSummary) -> Iterator[str]:
    """What a student is found by besides the name: QUESTION:VERDICT, QUESTION:IDEA, late."""
    for result in one.results:
        marks = ["late"] * result.late + ["by-hand"] * result.by_hand
        words = (result.verdict.replace(" ", "-"), *marks, *result.ideas, result.group)
        yield from (f"{result.question}:{word}" for word in words if word)


def _finder(found: ClassFindings) -> str:
    """A field that finds students, which the script shows, with the words that there are."""
    words = dict.fromkeys(word for one in found.students for word in sorted(_words(one)))
    offered = "".join(
        f'<option value="{_html(word)}"></option>' for word in list(words)[:_MOST_OFFERED]
    )
    return (
        '<p id="find" hidden><label>Find students <input type="search" list="words" size="30" '
        'placeholder="a name, fail, an idea, late"></label> <output></output></p>\n'
        f'<datalist id="words">{offered}</datalist>\n'
    )


def _student(student: StudentSummary, found: Mapping[str, ClassEntry]) -> Blocks:
    """Everything about a student, question by question, with hidden checks and what it printed."""
    if student.email:
        yield Paragraph(student.email)
    for result in student.results:
        entry = found.get(result.question)
        yield Heading(result.question, _said(result, cause=True), level=3)
        if entry is None:
            continue
        when = f"handed in {entry.hand_in.at}" if entry.hand_in.at else ""
        group = f"in the group of equal answers {result.group}" if result.group else ""
        yield Paragraph("; ".join(filter(None, (when, entry.hand_in.path, group))))
        if entry.note:
            yield Paragraph(entry.note, "Not graded:" if entry.points is None else "")
        if entry.report is not None:
            if len(entry.report.parts) > 1:
                for number, part in enumerate(entry.report.parts, 1):
                    yield Item(f"part {number} {part.verdict}: {part.points} of {part.of}")
            yield from student_feedback_blocks(entry.report)
