"""What follows from all grades of a class: who passed what, and which ideas it holds.

An idea counts as held where the report asserts it: it gives exactly the student's numbers, alone or
with another one.  What fits only a part is counted apart.  The starter as it was handed out holds
its ideas by design, so whoever hands it in unchanged counts for none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import fmean, median

from grader.model.classroom import AssignedQuestion, Entry, Terms
from grader.model.report import Named, Report, Verdict
from grader.reports import words

DIGITS = 8  # of a digest that are shown
_OTHERWISE = {"state", "rule", "class"}  # kinds of explanations that name no listed idea


class Standing(StrEnum):
    """Where a student stands with a question: exactly one of these."""

    PASSED = "passed"
    IDEA = "holds a listed idea"
    EXPLAINED = "wrong, explained otherwise"  # by a rule, state or a class of cases
    UNEXPLAINED = "wrong, unexplained"
    STOPPED = "stopped, no idea is known"  # raised, or ran into a limit
    STARTER = "starter, unchanged"
    NO_PROGRAM = "no program in the file"
    NOT_GRADED = "not graded"  # yet, or for a reason that is the grader's
    MISSING = "nothing handed in"


JUDGED = (
    Standing.PASSED, Standing.IDEA, Standing.EXPLAINED, Standing.UNEXPLAINED, Standing.STOPPED,
)  # fmt: skip
_UNKNOWN = {Standing.EXPLAINED, Standing.UNEXPLAINED, Standing.STOPPED}


@dataclass(frozen=True, slots=True)
class StudentResult:
    """What is known of one student and one question."""

    question: str  # id
    standing: Standing
    points: int | None = None  # None: not graded
    verdict: str = ""  # of the report
    late: bool = False
    note: str = ""  # why it is not graded, or why there is no program
    ideas: tuple[str, ...] = ()  # listed ones that it holds
    group: str = ""  # of equal wrong results that no idea explains: the first digits


@dataclass(frozen=True, slots=True)
class Student:
    """One student: a result for each question, in their order."""

    id: str
    results: tuple[StudentResult, ...]
    points: float | None  # with weights; None while something of it is not graded
    so_far: float  # of what is graded
    name: str = ""
    email: str = ""

    @property
    def passed(self) -> bool:
        """Whether every question passes."""
        return all(one.standing is Standing.PASSED for one in self.results)


@dataclass(slots=True)
class HeldIdea:
    """A listed idea that somebody holds in what counts."""

    id: str
    line: str  # the first sentence of its feedback
    students: list[str] = field(default_factory=list)  # who holds it
    share: float = 0.0  # of those whose file was graded and is not the unchanged starter
    unsure: list[str] = field(default_factory=list)  # it fits a part of what is wrong, no more
    by_part: Counter[int] = field(default_factory=Counter)  # students, by number of the part


@dataclass(slots=True)
class AnswerGroup:
    """Wrong results that are equal to each other, to the last case, and that no idea explains."""

    question: str
    handle: str  # the first digits of the digest of what is wrong
    sentence: str  # what the first failing check says
    also: tuple[str, ...] = ()  # what else is known
    students: list[str] = field(default_factory=list)
    files: int = 0  # how many of the students' files differ


@dataclass(frozen=True, slots=True)
class QuestionFindings:
    """What the class shows of one question."""

    question: AssignedQuestion
    standings: Mapping[Standing, int]
    ideas: tuple[HeldIdea, ...]  # the commonest first
    judged: int  # students whose file was graded and is not the unchanged starter
    groups: tuple[AnswerGroup, ...]  # the largest first


@dataclass(frozen=True, slots=True)
class ClassFindings:
    """What follows from all grades of a class."""

    terms: Terms
    students: tuple[Student, ...]
    questions: tuple[QuestionFindings, ...]
    of: float  # points, with weights
    mean: float | None  # of the points of those who are graded throughout
    median: float | None
    scores: Mapping[str, int]  # students graded throughout, by their share of all points

    @property
    def passed(self) -> int:
        """How many students pass every question."""
        return sum(student.passed for student in self.students)

    @property
    def unfinished(self) -> int:
        """How many students have something that is not graded yet."""
        return sum(student.points is None for student in self.students)


def find(terms: Terms, entries: Iterable[Entry]) -> ClassFindings:
    """Return what follows from all grades of a class, in one pass.

    Args:
        terms: what it was asked.
        entries: of each student and question what counts, student by student.
    """
    gathered = {one.id: _Gathered(one) for one in terms.questions}
    results: dict[str, dict[str, StudentResult]] = {}
    about: dict[str, tuple[str, str]] = {}
    for entry in entries:
        student = entry.handed.student
        results.setdefault(student, {})[entry.question.id] = gathered[entry.question.id].add(entry)
        name, email = about.get(student, ("", ""))
        about[student] = name or entry.handed.name, email or entry.handed.email
    questions = tuple(one.findings(len(results)) for one in gathered.values())
    students = tuple(
        _student(terms, student, found, about[student])
        for student, found in sorted(results.items())
    )
    whole = [one.points for one in students if one.points is not None]
    return ClassFindings(
        terms, students, questions, terms.of,
        mean=fmean(whole) if whole else None,
        median=median(whole) if whole else None,
        scores=_scores([points / terms.of if terms.of else 0.0 for points in whole]),
    )  # fmt: skip


def _scores(shares: list[float]) -> dict[str, int]:
    """Count how many shares (0 to 1) lie in each tenth, and how many are whole."""
    if not shares:
        return {}
    found = Counter(10 if share >= 1 else int(share * 10 + 1e-9) for share in shares)
    labels = [*(f"{n * 10} to {n * 10 + 10} %" for n in range(10)), "100 %"]
    return {label: found[n] for n, label in enumerate(labels)}


def _student(
    terms: Terms,
    student: str,
    found: Mapping[str, StudentResult],
    about: tuple[str, str],
) -> Student:
    missing = (StudentResult(one.id, Standing.MISSING, 0) for one in terms.questions)
    row = [found.get(one.question, one) for one in missing]
    each = zip(row, terms.questions, strict=True)
    so_far = round(sum(question.weighted(one.points or 0) for one, question in each), 6)
    graded = all(one.points is not None for one in row)
    return Student(student, tuple(row), so_far if graded else None, so_far, *about)


def standing(entry: Entry) -> Standing:
    """Return where a student stands with a question."""
    if entry.handed.fault:
        return Standing.NO_PROGRAM
    report = entry.report
    if report is None:
        return Standing.NOT_GRADED
    if report.verdict is Verdict.PASS:
        return Standing.PASSED
    if report.unchanged:
        return Standing.STARTER
    if asserted(report):
        return Standing.IDEA
    if any(one.kind in _OTHERWISE for one in report.explanations):
        return Standing.EXPLAINED
    return Standing.UNEXPLAINED if report.verdict is Verdict.FAIL else Standing.STOPPED


def asserted(report: Report) -> tuple[Named, ...]:
    """Return the listed ideas that a report says are held: exactly, or as two together."""
    together = any(e.kind == "pair" for e in report.explanations) and len(report.misconceptions) > 1
    return tuple(one for one in report.misconceptions if one.exact or together)


def _result(entry: Entry) -> StudentResult:
    stands, report = standing(entry), entry.report
    sure = asserted(report) if report is not None else ()
    return StudentResult(
        entry.question.id,
        stands,
        entry.points,
        verdict=str(report.verdict) if report is not None else "",
        late=entry.late,
        note=entry.note,
        ideas=tuple(one.id for one in sure) if stands is Standing.IDEA else (),
        group=report.outputs[:DIGITS] if report is not None and stands in _UNKNOWN else "",
    )


@dataclass(slots=True)
class _Gathered:
    """What is gathered of one question, student by student."""

    question: AssignedQuestion
    standings: Counter[Standing] = field(default_factory=Counter)
    ideas: dict[str, HeldIdea] = field(default_factory=dict)
    answers: dict[str, AnswerGroup] = field(default_factory=dict)  # by handle
    _files: set[tuple[str, str]] = field(default_factory=set)  # handle, sha256

    def add(self, entry: Entry) -> StudentResult:
        """Take in what a student handed in."""
        result, student, report = _result(entry), entry.handed.student, entry.report
        self.standings[result.standing] += 1
        if report is None or result.standing not in JUDGED:
            return result
        for one in report.misconceptions:
            line = words.sentences(one.feedback, 1)[0]
            idea = self.ideas.setdefault(one.id, HeldIdea(one.id, line))
            (idea.students if one.id in result.ideas else idea.unsure).append(student)
            idea.by_part.update(parts_of(report, one) if one.id in result.ideas else ())
        if result.group:
            handle, file = result.group, (result.group, entry.handed.sha256)
            found = self.answers.setdefault(handle, _answers(self.question.id, handle, report))
            found.students.append(student)
            found.files += file not in self._files
            self._files.add(file)
        return result

    def findings(self, students: int) -> QuestionFindings:
        """Return what the class shows of the question."""
        standings = {one: self.standings[one] for one in Standing}
        standings[Standing.MISSING] = students - self.standings.total()
        judged = sum(standings[one] for one in JUDGED)
        for idea in self.ideas.values():
            idea.share = len(idea.students) / judged if judged else 0.0
            idea.by_part = Counter(dict(sorted(idea.by_part.items())))
        ideas = sorted(self.ideas.values(), key=lambda one: (-len(one.students), one.id))
        groups = sorted(self.answers.values(), key=lambda one: (-len(one.students), one.handle))
        return QuestionFindings(self.question, standings, tuple(ideas), judged, tuple(groups))


def parts_of(report: Report, held: Named) -> set[int]:
    """Return the numbers of the parts in which an idea shows."""
    failing = words.deciding(report)
    found = {check.part for check in failing if check.id in held.checks}
    found = found or {check.part for check in failing if {*held.seen} & {*check.failing}}
    return found or {check.part for check in failing[:1]}


def _answers(question: str, handle: str, report: Report) -> AnswerGroup:
    failing = words.deciding(report)
    if not failing:
        return AnswerGroup(question, handle, words.about_the_file(report))
    also = tuple(one.text for one in report.explanations if one.kind in _OTHERWISE)
    said = f"{failing[0].id}: {words.finding(failing[0])}"
    return AnswerGroup(question, handle, said, also)
