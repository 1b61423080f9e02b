"""Findings on a class from all its grades, and how the instructor sees them.

An idea is a wrong idea that the question lists, with feedback.  A student holds it if the report
asserts it: alone or together with another idea, it gives exactly the student's results.  An idea
that fits only a part is counted separately.  The starter contains its ideas by design, so a student
who hands it in unchanged holds none.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import groupby
from statistics import fmean, median

from grader.model.classroom import AssignedQuestion, ClassEntry, ClassSettings, round_points
from grader.model.number_format import format_count
from grader.model.report import UNREADABLE_TYPE, Report, Verdict
from grader.reports import grade_sentences
from grader.reports.blocks import (
    BlankLine,
    Blocks,
    CodeBlock,
    Heading,
    Item,
    Paragraph,
    Table,
)
from grader.reports.text_layout import escape_line

SHOWN_DIGITS = 8  # of a digest
_UNLISTED_KINDS = {"state", "rule", "class"}  # of explanations that name no listed idea


class AnswerStatus(StrEnum):
    """The state of a student's answer to a question."""

    PASSED = "passed"
    IDEA = "holds a listed idea"
    EXPLAINED = "wrong, explained otherwise"  # by a rule, state or a class of cases
    UNEXPLAINED = "wrong, unexplained"
    STOPPED = "stopped, no idea is known"  # by an exception or a limit
    STARTER = "starter, unchanged"
    UNANSWERED = "not answered"  # the lines that fail are empty, or could not be read
    NO_ANSWER = "no answer in the file"
    NOT_GRADED = "not graded"  # yet, or because of the grader
    MISSING = "nothing handed in"


_WITHOUT_IDEA = (AnswerStatus.EXPLAINED, AnswerStatus.UNEXPLAINED, AnswerStatus.STOPPED)
JUDGED_STATUSES = (
    AnswerStatus.PASSED, AnswerStatus.IDEA, *_WITHOUT_IDEA, AnswerStatus.UNANSWERED
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StudentResult:
    """Result of one student for one question."""

    question: str  # id
    standing: AnswerStatus
    points: int | None  # None: not graded
    verdict: str = "nothing handed in"
    late: bool = False
    note: str = ""  # why it is not graded, has no program, or has other points than it earned
    by_hand: bool = False  # the points are a teacher's
    unread: bool = False  # lines of its answers could not be read
    ideas: tuple[str, ...] = ()  # listed ones that it holds
    group: str = ""  # first digits of the group of equal wrong results without an idea
    cause: str = ""  # why it did not load, in a few words


@dataclass(slots=True)
class StudentSummary:
    """One student, with a result for each question, in the order of the questions."""

    id: str
    results: tuple[StudentResult, ...] = ()
    points: float | None = None  # with weights; None if an answer is not graded yet
    so_far: float = 0  # points of the graded answers
    name: str = ""
    email: str = ""


@dataclass(slots=True)
class ClassIdea:
    """A listed idea, the students who hold it, and those who may."""

    id: str
    line: str  # the first sentence of its feedback
    students: list[str] = field(default_factory=list)  # who holds it
    share: float = 0.0  # of the judged students
    unsure: list[str] = field(default_factory=list)  # students whose results it fits in part


@dataclass(slots=True)
class AnswerGroup:
    """Wrong answers with equal results in every case, which no idea explains."""

    question: str
    handle: str  # first digits of the digest of the results
    sentence: str  # on the first failing check
    also: tuple[str, ...] = ()  # explanations by rules, states or classes of cases
    students: list[str] = field(default_factory=list)
    files: int = 0  # number of different files


@dataclass(slots=True)
class QuestionFindings:
    """Findings on one question: statuses of answers, ideas, and groups of equal wrong answers."""

    question: AssignedQuestion
    standings: dict[AnswerStatus, int] = field(
        default_factory=lambda: dict.fromkeys(AnswerStatus, 0)
    )
    ideas: list[ClassIdea] = field(default_factory=list)  # the most common first
    judged: int = 0  # students whose file was graded and is not the unchanged starter
    groups: list[AnswerGroup] = field(default_factory=list)  # the largest first


@dataclass(frozen=True, slots=True)
class ClassFindings:
    """All facts in the report of a class."""

    terms: ClassSettings
    students: tuple[StudentSummary, ...]
    questions: tuple[QuestionFindings, ...]
    of: float  # maximum points, with weights
    mean: float | None  # points of the students who are graded completely
    median: float | None
    scores: Mapping[str, int]  # number of these students, by their share of all points
    aside: tuple[tuple[str, str], ...] = ()  # files that do not count, and why


def by_student(entries: Iterable[ClassEntry]) -> Iterator[tuple[str, dict[str, ClassEntry]]]:
    """Give each student with their entries by question; entries of a student must be adjacent."""
    for student, group in groupby(entries, key=lambda entry: entry.hand_in.student):
        yield student, {entry.question.id: entry for entry in group}


def class_findings(settings: ClassSettings, entries: Iterable[ClassEntry]) -> ClassFindings:
    """Return the findings from a class's counting entries; those of a student must be adjacent."""
    questions = [QuestionFindings(question) for question in settings.questions]
    seen_files = set[tuple[str, str]]()  # handle of a group, sha256
    students = []
    for student_id, by_question in by_student(entries):
        hand_ins = [entry.hand_in for entry in by_question.values()]
        student = StudentSummary(
            id=student_id,
            name=next((hand_in.name for hand_in in hand_ins if hand_in.name), ""),
            email=next((hand_in.email for hand_in in hand_ins if hand_in.email), ""),
        )
        points = 0.0
        for findings in questions:
            question = findings.question
            result = _add_result(by_question.get(question.id), findings, seen_files)
            student.results += (result,)
            points += question.weighted_points(result.points or 0)
        student.so_far = round_points(points)
        if all(result.points is not None for result in student.results):
            student.points = student.so_far
        students.append(student)
    for findings in questions:
        findings.judged = sum(findings.standings[status] for status in JUDGED_STATUSES)
        for idea in findings.ideas:
            idea.share = len(idea.students) / findings.judged
        findings.ideas.sort(key=lambda idea: (-len(idea.students), idea.id))
        findings.groups.sort(key=lambda group: (-len(group.students), group.handle))
    students.sort(key=lambda student: (student.id.casefold(), student.id))
    totals = [student.points for student in students if student.points is not None]
    return ClassFindings(
        terms=settings,
        students=tuple(students),
        questions=tuple(questions),
        of=settings.max_points,
        mean=fmean(totals) if totals else None,
        median=median(totals) if totals else None,
        scores=_count_by_share(totals, settings.max_points),
    )


def _count_by_share(points: Sequence[float], max_points: float) -> dict[str, int]:
    """Count students by their share of the points, as {"0 to 10 %": 2, ..., "100 %": 7}."""
    if not points:
        return {}
    tenths = Counter(min(10, int(10 * earned / (max_points or 1) + 1e-9)) for earned in points)
    labels = [*(f"{tenth * 10} to {tenth * 10 + 10} %" for tenth in range(10)), "100 %"]
    return {label: tenths[tenth] for tenth, label in enumerate(labels)}


def answer_status(entry: ClassEntry) -> AnswerStatus:
    """Return the status of a student's answer.  Points by hand do not change it."""
    report = entry.report
    if not entry.hand_in.path:  # it only has points by hand
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
    if any(explanation.kind in _UNLISTED_KINDS for explanation in report.explanations):
        return AnswerStatus.EXPLAINED
    failing = grade_sentences.failing_required_checks(report)
    if failing and all(check.is_unanswered for check in failing):
        return AnswerStatus.UNANSWERED
    return AnswerStatus.UNEXPLAINED if report.verdict is Verdict.FAIL else AnswerStatus.STOPPED


def certain_ideas(report: Report) -> tuple[str, ...]:
    """Return the ids of ideas that give exactly the results, alone or together as a pair."""
    is_pair = any(explanation.kind == "pair" for explanation in report.explanations)
    is_pair = is_pair and len(report.misconceptions) > 1
    return tuple(idea.id for idea in report.misconceptions if idea.exact or is_pair)


def _add_result(
    entry: ClassEntry | None, findings: QuestionFindings, seen_files: set[tuple[str, str]]
) -> StudentResult:
    """Return the result of a student, and add its status, ideas and group to the findings."""
    question = findings.question
    status = answer_status(entry) if entry else AnswerStatus.MISSING
    findings.standings[status] += 1
    if entry is None:
        return StudentResult(question.id, status, 0)
    report = entry.report
    result = StudentResult(
        question=question.id,
        standing=status,
        points=entry.points,
        verdict=entry.verdict,
        late=entry.late,
        note=entry.note,
        by_hand=entry.override is not None,
        unread=report is not None and report.unread != (),
        cause=_load_failure(entry),
    )
    if report is None or status not in JUDGED_STATUSES:
        return result
    student = entry.hand_in.student
    certain = certain_ideas(report) if status is AnswerStatus.IDEA else ()
    ideas = {idea.id: idea for idea in findings.ideas}
    for match in report.misconceptions:
        idea = ideas.get(match.id)
        if idea is None:
            idea = ClassIdea(match.id, grade_sentences.first_sentences(match.feedback, 1)[0])
            findings.ideas.append(idea)
        names = idea.students if idea.id in certain else idea.unsure
        names.append(student)
    handle = report.outputs[:SHOWN_DIGITS] if status in _WITHOUT_IDEA else ""
    if handle:
        groups = {group.handle: group for group in findings.groups}
        group = groups.get(handle)
        if group is None:
            group = _new_group(question.id, handle, report)
            findings.groups.append(group)
        group.students.append(student)
        file = (handle, entry.hand_in.sha256)
        if file not in seen_files:
            group.files += 1
            seen_files.add(file)
    return replace(result, ideas=certain, group=handle)


def _new_group(question: str, handle: str, report: Report) -> AnswerGroup:
    """Return a group without students, described by the report of its first answer."""
    failing = grade_sentences.failing_required_checks(report)
    if not failing:
        return AnswerGroup(question, handle, grade_sentences.file_problem(report))
    return AnswerGroup(
        question=question,
        handle=handle,
        sentence=f"{failing[0].id}: {grade_sentences.describe_finding(failing[0])}",
        also=tuple(
            explanation.text
            for explanation in report.explanations
            if explanation.kind in _UNLISTED_KINDS
        ),
    )


def _load_failure(entry: ClassEntry) -> str:
    """Return why a file did not load, such as "invalid Python"; "" for any other entry."""
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
    module = re.match(r"No module named '([\w.]+)'", raised.message)
    if module:
        return f"{raised.type} {module[1]}"
    return "sys.exit" if raised.type == "SystemExit" else raised.type


def load_failures(findings: ClassFindings) -> dict[str, list[str]]:
    """Return the students whose file did not load, as {"invalid Python": ["ann (softmax)"]}."""
    by_cause: dict[str, list[str]] = {}
    for student in findings.students:
        for result in student.results:
            if result.cause:
                text = _shown_text(student.id)
                if len(findings.questions) > 1:
                    text += f" ({result.question})"
                by_cause.setdefault(result.cause, []).append(text)
    return dict(sorted(by_cause.items(), key=lambda item: (-len(item[1]), item[0])))


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
_MAX_TALKS = 10
_NOT_LOADED = "did not load"
_LINES_UNREAD = "lines unread"
_TALK_REASONS = {  # by the status of an answer; the most important first
    AnswerStatus.NO_ANSWER: "what was handed in holds no answer",
    _NOT_LOADED: "a file did not load",
    AnswerStatus.STARTER: "the starter was handed in as it was",
    _LINES_UNREAD: "lines of the answers could not be read",
    AnswerStatus.UNEXPLAINED: "wrong in a way that no listed idea explains",
}
_BAR_CELLS = 24  # of the longest bar
MAX_NAME_LENGTH = 120
_MAX_CAUSE_LENGTH = 40  # in a table


def format_points(points: float) -> str:
    """Return points as text, without decimals if they are an integer."""
    return f"{points:,.6f}".rstrip("0").rstrip(".")


def class_summary(findings: ClassFindings) -> str:
    """Return one or two sentences on the class: students, passes, mean and median."""
    passed = sum(
        all(result.standing is AnswerStatus.PASSED for result in student.results)
        for student in findings.students
    )
    summary = f"{format_count(len(findings.students), 'student')}, {passed} passed"
    if len(findings.questions) > 1:
        summary += " all questions"
    if findings.mean is not None:
        summary += f", mean {findings.mean:.1f} and median {findings.median:.1f}"
        summary += f" of {format_points(findings.of)} points"
    ungraded = sum(student.points is None for student in findings.students)
    if ungraded:
        summary += ". In no average, because something is not graded yet: "
        summary += format_count(ungraded, "student")
    return f"{summary}."


def students_to_talk_to(findings: ClassFindings) -> list[tuple[StudentSummary, str]]:
    """Return students whom a conversation may help, the most urgent first, with the reasons."""
    talks = [(student, _talk_reasons(student, findings)) for student in findings.students]
    urgent = [(student, reasons) for student, reasons in talks if reasons]
    urgent.sort(key=lambda talk: (min(talk[1]), talk[0].so_far))
    return [(student, "; ".join(reasons.values())) for student, reasons in urgent[:_MAX_TALKS]]


def _talk_reasons(student: StudentSummary, findings: ClassFindings) -> dict[int, str]:
    """Return the reasons to talk to a student by rank, from 0, the most urgent."""
    reasons: dict[int, str] = {}
    not_tried = {AnswerStatus.MISSING, AnswerStatus.NOT_GRADED}
    tried = [result for result in student.results if result.standing not in not_tried]
    failed = [result for result in student.results if result.standing is not AnswerStatus.PASSED]
    passed = len(student.results) - len(failed)
    if len(tried) > 1 and not passed and student.so_far < (findings.median or findings.of):
        reasons[0] = f"passed none of {len(tried)} questions"
    is_low = student.points is not None and student.points < (findings.median or 0) / 2
    if is_low and any(not result.by_hand for result in failed):
        reasons[1] = f"{format_points(student.so_far)} points, less than half of the median"
    for rank, (key, reason) in enumerate(_TALK_REASONS.items(), 2):
        questions = [result.question for result in student.results if key in _reason_keys(result)]
        if questions and len(student.results) > 1:
            reason += f" ({', '.join(questions)})"
        if questions:
            reasons[rank] = reason
    return reasons


def _reason_keys(result: StudentResult) -> set[str]:
    """Return the status of a result, and further keys of `_TALK_REASONS` that apply to it."""
    keys: set[str] = {result.standing}
    if result.unread:
        keys.add(_LINES_UNREAD)
    if result.cause and result.standing is not AnswerStatus.NO_ANSWER and not result.by_hand:
        keys.add(_NOT_LOADED)
    return keys


def class_blocks(findings: ClassFindings, results: str, max_students: int | None = 8) -> Blocks:
    """Give the page of a class, with at most `max_students` names in a list (None: all).

    `results` is the path of the folder of results, for the commands on the page.
    """
    yield Heading(findings.terms.title or "A class", level=1)
    yield Paragraph(class_summary(findings))
    yield Paragraph(_settings_text(findings.terms))
    yield BlankLine()
    yield _student_table(findings)
    talks = students_to_talk_to(findings)
    if talks:
        yield Heading("Students to talk to", level=3)
        yield Paragraph(TALK_NOTE)
        for student, reason in talks:
            label = _shown_text(student.id)
            if student.name:
                label += f" ({_shown_text(student.name)})"
            yield Paragraph(reason, label, hang=4)
    failures = load_failures(findings)
    if failures:
        yield Heading("Did not load", level=3)
        yield Paragraph(NOT_LOADED_NOTE)
        for cause, students in failures.items():
            yield Paragraph(", ".join(students), f"{_shown_text(cause)}:", hang=4)
    for question in findings.questions:
        yield from _question_blocks(question, results, max_students)
    if findings.scores:
        yield Heading("Points, of all")
        yield _bars(findings.scores)
    if findings.aside:
        yield Heading("Files that are no answer")
        for path, reason in findings.aside:
            yield Item(escape_line(f"{path}: {reason}"))


def _shown_text(text: str) -> str:
    return escape_line(text, MAX_NAME_LENGTH)


def _settings_text(settings: ClassSettings) -> str:
    text = f"The {settings.counts} file of a student for a question counts."
    if settings.deadline:
        text += f" What came after {settings.deadline} is marked"
        if settings.late:
            text += f", and loses {settings.late.penalty:g} % for each day begun"
        text += "."
    seed = "A seed for each student, of" if settings.per_student else "Seed"
    return (
        f"{text} {seed} {settings.seed}, isolation {settings.level} at least, "
        f"drill {settings.program}."
    )


def _student_table(findings: ClassFindings) -> Table:
    ids = [asked.question.id for asked in findings.questions]
    max_points = format_points(findings.of)
    shows_cause = len(ids) == 1  # with more questions the table would not fit a terminal
    rows = []
    for student in findings.students:
        points = f"{format_points(student.so_far)} of {max_points}"
        if student.points is None:
            points += " so far"
        results = (result_text(result, shows_cause=shows_cause) for result in student.results)
        rows.append((_shown_text(student.id), _shown_text(student.name), *results, points))
    return Table(("student", "name", *ids, "points"), rows)


def result_text(result: StudentResult, *, shows_cause: bool) -> str:
    """Return a result as text: "0 fail (invalid Python), late", or "-" if nothing is handed in."""
    if result.standing is AnswerStatus.MISSING and not result.by_hand:
        return "-"
    text = result.verdict if result.points is None else f"{result.points} {result.verdict}"
    if shows_cause and result.cause and result.standing is not AnswerStatus.NO_ANSWER:
        text += f" ({escape_line(result.cause, _MAX_CAUSE_LENGTH)})"
    if result.late:
        text += ", late"
    if result.by_hand and result.verdict != "by hand":
        text += ", by hand"
    return text


def _question_blocks(findings: QuestionFindings, results: str, max_students: int | None) -> Blocks:
    """Give the findings on a question, with at most `max_students` names in a list."""
    yield Heading(findings.question.title, name=findings.question.id)
    yield _bars({str(status): count for status, count in findings.standings.items() if count})
    yield BlankLine()
    if findings.ideas:
        yield from _idea_blocks(findings, max_students)
    else:
        yield Paragraph("No listed idea shows.")
    if findings.groups:
        yield from _group_blocks(findings.groups, results, max_students)


def _idea_blocks(findings: QuestionFindings, max_students: int | None) -> Blocks:
    judged = findings.judged
    yield Heading("Ideas that the class holds", f"of {format_count(judged, 'student')}", level=3)
    for idea in findings.ideas:
        share = f"{len(idea.students)} of {judged}, {round(100 * idea.share)} %"
        yield Paragraph(share, idea.id, hang=4)
        if idea.line:
            yield Paragraph(idea.line, indent=4)
        if idea.unsure:
            text = f"{len(idea.unsure)} more: it fits a part of what is wrong"
            yield Paragraph(text, indent=4)
        if idea.students:
            yield Paragraph(_student_list(idea.students, max_students), indent=4)
    if findings.standings[AnswerStatus.STARTER]:
        yield Paragraph(STARTER_NOTE)


def _group_blocks(groups: Sequence[AnswerGroup], results: str, max_students: int | None) -> Blocks:
    yield Heading("Equal answers that no listed idea gives", level=3)
    yield Paragraph(GROUPS_NOTE)
    shared = [group for group in groups if len(group.students) > 1]
    for group in shared:
        students = _student_list(group.students, max_students)
        files = format_count(group.files, "different file")
        yield Paragraph(f"{students} ({files})", group.handle, hang=4)
        for text in (group.sentence, *group.also[:2]):
            yield Paragraph(text, indent=4)
        question = shlex.quote(group.question)
        folder = shlex.quote(results)
        command = f"drill bank new-idea {question} --from {folder} {group.handle} --name NAME"
        yield CodeBlock((command,))
    single = len(groups) - len(shared)
    if single:
        more = "more " if shared else ""
        count = format_count(single, f"{more}answer")
        yield Paragraph(f"{count} that only one student gave")


def _student_list(students: Sequence[str], max_students: int | None) -> str:
    """Return students as text: "3 students: ann, bob, ..." if `max_students` is 2."""
    names = ", ".join(_shown_text(student) for student in students[:max_students])
    if max_students is not None and len(students) > max_students:
        names += ", ..."
    return f"{format_count(len(students), 'student')}: {names}"


def _bars(counts: Mapping[str, int]) -> Table:
    """Return a table with a bar of `#` for each count; the largest has the full length."""
    largest = max(counts.values(), default=0)
    rows = []
    for name, count in counts.items():
        bar = ""
        if count:
            bar = "#" * max(1, round(_BAR_CELLS * count / largest))
        rows.append((name, str(count), bar))
    return Table(("", " ", "  "), rows, (" ",), indent=2)
