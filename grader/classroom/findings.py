"""What follows from all grades of a class: who passed what, and which ideas it holds.

An idea counts as held where the report asserts it: it gives exactly the student's numbers, alone or
with another one.  What fits only a part is counted apart.  The starter as it was handed out holds
its ideas by design, so whoever hands it in unchanged counts for none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from statistics import fmean, median

from grader.model.classroom import AssignedQuestion, Entry, Terms
from grader.model.report import Named, Report
from grader.model.verdict import Verdict
from grader.reports import words

DIGITS = 4  # of a digest that are shown, more where two begin alike
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


@dataclass(frozen=True, slots=True)
class StudentResult:
    """What is known of one student and one question."""

    question: str  # id
    standing: Standing
    points: int | None = None  # None: not graded
    verdict: str = ""  # of the report
    part: str = ""  # "2 of 3": the parts that pass, of those there are
    late: bool = False
    note: str = ""  # why it is not graded, or why there is no program
    ideas: tuple[str, ...] = ()  # listed ones that it holds
    unsure: tuple[str, ...] = ()  # that fit a part of what is wrong
    group: str = ""  # handle of the group of equal wrong results


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


@dataclass(frozen=True, slots=True)
class HeldIdea:
    """A listed idea that somebody holds in what counts."""

    id: str
    lines: tuple[str, ...]  # the first sentence of its feedback, as most are given it; then others
    students: tuple[str, ...]  # who holds it
    share: float  # of those whose file was graded and is not the unchanged starter
    shared: tuple[str, ...] = ()  # of these: where another idea gives the same numbers
    unsure: tuple[str, ...] = ()  # where it fits a part of what is wrong, and no more
    by_part: Mapping[int, int] = field(default_factory=dict)  # students, by number of the part


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """Wrong results that are equal to each other, to the last case, and that no idea explains."""

    question: str
    name: str  # "ID#1": the largest group is the first
    handle: str  # the first digits of the digest: stays the same when more is graded
    outputs: str  # the digest
    students: tuple[str, ...]
    sentence: str  # what the first failing check says
    case: str = ""  # the smallest one that fails
    also: tuple[str, ...] = ()  # what else is known
    files: int = 1  # how many of the students' files differ


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
    handles = {
        (group.question, student): group.handle
        for one in questions
        for group in one.groups
        for student in group.students
    }
    students = tuple(
        _student(terms, student, found, about[student], handles)
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
    handles: Mapping[tuple[str, str], str],
) -> Student:
    missing = (StudentResult(one.id, Standing.MISSING, 0) for one in terms.questions)
    row = [found.get(one.question, one) for one in missing]
    row = [replace(one, group=handles.get((one.question, student), "")) for one in row]
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
    unsure = [one for one in report.misconceptions if one not in sure] if report is not None else []
    many = len(report.parts) if report is not None else 0
    return StudentResult(
        entry.question.id,
        stands,
        entry.points,
        verdict=str(report.verdict) if report is not None else "",
        part=f"{report.parts_passed} of {many}" if report is not None and many > 1 else "",
        late=entry.late,
        note=entry.note,
        ideas=tuple(one.id for one in sure) if stands is Standing.IDEA else (),
        unsure=() if stands is Standing.STARTER else tuple(one.id for one in unsure),
    )


@dataclass(slots=True)
class _Idea:
    """What is gathered of one idea."""

    lines: Counter[str] = field(default_factory=Counter)  # of feedback
    students: list[str] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    parts: Counter[int] = field(default_factory=Counter)


@dataclass(slots=True)
class _Answers:
    """What is gathered of equal wrong results."""

    sentence: str
    case: str
    also: tuple[str, ...]
    students: list[str] = field(default_factory=list)
    files: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Gathered:
    """What is gathered of one question, student by student."""

    question: AssignedQuestion
    standings: Counter[Standing] = field(default_factory=Counter)
    ideas: defaultdict[str, _Idea] = field(default_factory=lambda: defaultdict(_Idea))
    answers: dict[str, _Answers] = field(default_factory=dict)
    digests: set[str] = field(default_factory=set)  # of every wrong result, known or not

    def add(self, entry: Entry) -> StudentResult:
        """Take in what a student handed in."""
        result, student, report = _result(entry), entry.handed.student, entry.report
        self.standings[result.standing] += 1
        if report is None or result.standing not in JUDGED:
            return result
        self._holds(student, report, result)
        if report.outputs:
            self.digests.add(report.outputs)
            if result.standing not in {Standing.PASSED, Standing.IDEA}:
                found = self.answers.setdefault(report.outputs, _answers(report))
                found.students.append(student)
                found.files.add(entry.handed.sha256)
        return result

    def _holds(self, student: str, report: Report, result: StudentResult) -> None:
        sure = asserted(report)
        together = any(e.kind == "pair" for e in report.explanations)
        alike = len(sure) > 1 and not together and all(m.cases >= m.failing for m in sure)
        for one in report.misconceptions:
            idea = self.ideas[one.id]
            idea.lines[words.sentences(one.feedback, 1)[0]] += 1
            if one.id in result.ideas:
                idea.students.append(student)
                idea.parts.update(parts_of(report, one))
                if alike:
                    idea.shared.append(student)
            else:
                idea.unsure.append(student)

    def findings(self, students: int) -> QuestionFindings:
        """Return what the class shows of the question."""
        standings = {one: self.standings[one] for one in Standing}
        standings[Standing.MISSING] = students - self.standings.total()
        judged = sum(standings[one] for one in JUDGED)
        ideas = [
            HeldIdea(
                name,
                tuple(line for line, _ in idea.lines.most_common() if line),
                tuple(idea.students),
                len(idea.students) / judged if judged else 0.0,
                tuple(idea.shared),
                tuple(idea.unsure),
                dict(sorted(idea.parts.items())),
            )
            for name, idea in self.ideas.items()
        ]
        ideas.sort(key=lambda one: (-len(one.students), one.id))
        return QuestionFindings(self.question, standings, tuple(ideas), judged, self._groups())

    def _groups(self) -> tuple[AnswerGroup, ...]:
        ordered = sorted(self.answers.items(), key=lambda one: (-len(one[1].students), one[0]))
        shown = handles(self.digests)
        id_ = self.question.id
        return tuple(
            AnswerGroup(
                id_, f"{id_}#{number}", shown[digest], digest, tuple(found.students),
                found.sentence, found.case, found.also, len(found.files),
            )
            for number, (digest, found) in enumerate(ordered, 1)
        )  # fmt: skip


def parts_of(report: Report, held: Named) -> set[int]:
    """Return the numbers of the parts in which an idea shows."""
    failing = words.deciding(report)
    found = {check.part for check in failing if check.id in held.checks}
    found = found or {check.part for check in failing if {*held.seen} & {*check.failing}}
    return found or {check.part for check in failing[:1]}


def _answers(report: Report) -> _Answers:
    failing = words.deciding(report)
    if not failing:
        return _Answers(words.about_the_file(report), "", ())
    also = [one.text for one in report.explanations if one.kind in _OTHERWISE]
    sentence = f"{failing[0].id}: {words.finding(failing[0])}"
    return _Answers(sentence, words.smallest(failing[0]), tuple(also))


def handles(digests: Iterable[str]) -> dict[str, str]:
    """Return of each digest as many first digits as tell it from the others, four at least."""
    known = sorted(digests)
    length = dict.fromkeys(known, DIGITS)
    for one, two in pairwise(known):
        alike = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), 0) + 1
        length[one], length[two] = max(length[one], alike), max(length[two], alike)
    return {digest: digest[:most] for digest, most in length.items()}
