"""What follows from all grades of a class: a pure function of them, in one pass.

An idea counts as held where the report asserts it: it gives exactly the student's numbers, alone or
with another one.  What fits only a part is counted apart.  The starter as it was handed out holds
its ideas by design, so whoever hands it in unchanged counts for none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from statistics import fmean, median

from grader.classroom import spreads
from grader.model.classroom import Entry, Posed, Terms
from grader.model.findings import (
    Asked,
    Attempts,
    Cell,
    Findings,
    Group,
    Held,
    Same,
    Standing,
    Student,
)
from grader.model.report import Named, Report
from grader.model.verdict import Verdict
from grader.reports import words
from grader.reports.class_rows import weighted

FEW = 4  # students who share a wrong result that nobody else has: at most so many
DIGITS = 4  # of a digest that are shown, more where two begin alike
_OTHERWISE = {"state", "rule", "class"}  # kinds of explanations that name no listed idea


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


def find(terms: Terms, attempts: Iterable[Attempts], unreadable: int = 0) -> Findings:
    """Return what follows from all grades of a class.

    Args:
        terms: what it was asked.
        attempts: of each student and question what counts and all hand-ins, student by student.
        unreadable: lines of the results that are no verdict.
    """
    gathered = {posed.id: _Gathered(posed) for posed in terms.posed}
    students: dict[str, dict[str, Cell]] = {}
    about: dict[str, tuple[str, str]] = {}
    counting: list[datetime] = []  # when what counts was handed in
    seconds: list[float] = []
    for entry, everything in attempts:
        student, question = entry.handed.student, entry.posed.id
        cell = gathered[question].add(entry, everything)
        students.setdefault(student, {})[question] = cell
        name, email = about.get(student, ("", ""))
        about[student] = name or entry.handed.name, email or entry.handed.email
        if (at := spreads.moment(entry.handed.at)) is not None:
            counting.append(at)
        if entry.report is not None:
            seconds.append(entry.report.seconds)
    parts = spreads.intervals((at for g in gathered.values() for at in g.times), terms.deadline)
    asked = tuple(one.asked(parts, len(students)) for one in gathered.values())
    handles = {
        (group.question, student): group.handle
        for one in asked
        for group in one.groups
        for student in group.students
    }
    of = round(sum(weighted(posed.of, posed) for posed in terms.posed), 6)
    rows = tuple(
        _student(terms, student, cells, about[student], handles)
        for student, cells in sorted(students.items())
    )
    whole = [row.points for row in rows if row.points is not None]
    note = f"mean {fmean(whole):.1f}, median {median(whole):.1f} of {of:g}" if whole else ""
    return Findings(
        terms, rows, asked, of,
        intervals=parts.labels if parts is not None else (),
        mean=fmean(whole) if whole else None,
        median=median(whole) if whole else None,
        scores=spreads.shares("Points, of all", [p / of if of else 0.0 for p in whole], note),
        seconds=spreads.seconds("How long a grade took", seconds),
        times=spreads.against("When it was handed in", counting, terms.deadline, parts),
        unreadable=unreadable,
    )  # fmt: skip


def _student(
    terms: Terms,
    student: str,
    cells: Mapping[str, Cell],
    about: tuple[str, str],
    handles: Mapping[tuple[str, str], str],
) -> Student:
    row = [cells.get(posed.id, Cell(posed.id, Standing.MISSING, 0)) for posed in terms.posed]
    row = [replace(cell, group=handles.get((cell.question, student), "")) for cell in row]
    each = zip(row, terms.posed, strict=True)
    so_far = round(sum(weighted(cell.points or 0, posed) for cell, posed in each), 6)
    graded = all(cell.points is not None for cell in row)
    name, email = about
    return Student(student, tuple(row), so_far if graded else None, so_far, name, email)


def _cell(entry: Entry) -> Cell:
    stands, report = standing(entry), entry.report
    graded = entry.graded
    note = entry.handed.fault
    if stands is Standing.NOT_GRADED:
        note = graded.fault if graded is not None and graded.fault else "not yet"
    sure = asserted(report) if report is not None else ()
    held = sure if stands is Standing.IDEA else ()
    unsure = [m for m in report.misconceptions if m not in sure] if report is not None else []
    many = len(report.parts) if report is not None else 0
    return Cell(
        entry.posed.id,
        stands,
        None if stands is Standing.NOT_GRADED else entry.points,
        verdict=str(report.verdict) if report is not None else "",
        part=f"{report.parts_passed} of {many}" if report is not None and many > 1 else "",
        late=entry.late,
        note=note,
        ideas=tuple(one.id for one in held),
        unsure=() if stands is Standing.STARTER else tuple(one.id for one in unsure),
        at=entry.handed.at,
    )


@dataclass(slots=True)
class _Idea:
    """What is gathered of one idea."""

    lines: Counter[str] = field(default_factory=Counter)  # of feedback
    students: list[str] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    parts: Counter[int] = field(default_factory=Counter)
    times: list[datetime] = field(default_factory=list)


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

    posed: Posed
    standings: Counter[Standing] = field(default_factory=Counter)
    points: list[int] = field(default_factory=list)
    ideas: defaultdict[str, _Idea] = field(default_factory=lambda: defaultdict(_Idea))
    answers: dict[str, _Answers] = field(default_factory=dict)
    digests: set[str] = field(default_factory=set)  # of every wrong result, known or not
    files: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    passing: set[str] = field(default_factory=set)  # hashes of files
    times: list[datetime] = field(default_factory=list)
    several: int = 0

    def add(self, entry: Entry, everything: Sequence[Entry]) -> Cell:
        """Take in what a student handed in."""
        cell, student, report = _cell(entry), entry.handed.student, entry.report
        self.standings[cell.standing] += 1
        if cell.points is not None:
            self.points.append(cell.points)
        self.several += len(everything) > 1
        if report is not None and cell.standing in _JUDGED:
            self._holds(student, report, cell)
            self._answers(student, entry.handed.sha256, report, cell)
        self._over_time(student, everything, cell)
        return cell

    def _answers(self, student: str, sha256: str, report: Report, cell: Cell) -> None:
        self.files[sha256].append(student)
        if cell.standing is Standing.PASSED:
            self.passing.add(sha256)
        elif cell.standing is not Standing.IDEA and report.outputs:
            found = self.answers.setdefault(report.outputs, _answers(report))
            found.students.append(student)
            found.files.add(sha256)

    def _holds(self, student: str, report: Report, cell: Cell) -> None:
        sure = asserted(report)
        together = any(e.kind == "pair" for e in report.explanations)
        alike = len(sure) > 1 and not together and all(m.cases >= m.failing for m in sure)
        for one in report.misconceptions:
            idea = self.ideas[one.id]
            idea.lines[_line(one)] += 1
            if one.id in cell.ideas:
                idea.students.append(student)
                idea.parts.update(parts_of(report, one))
                if alike:
                    idea.shared.append(student)
            else:
                idea.unsure.append(student)

    def _over_time(self, student: str, everything: Sequence[Entry], cell: Cell) -> None:
        before: dict[str, Named] = {}  # held in an earlier hand-in
        last: Report | None = None
        for one in everything:
            at, last = spreads.moment(one.handed.at), one.report
            if at is not None:
                self.times.append(at)
            if last is not None and last.outputs:
                self.digests.add(last.outputs)
            if last is None or last.verdict is Verdict.PASS or last.unchanged:
                continue
            for held in asserted(last):
                before[held.id] = held
                idea = self.ideas[held.id]
                idea.lines[_line(held)] += 0
                if at is not None:
                    idea.times.append(at)
        for held in before.values():
            if held.id not in cell.ideas and last is not None and _gone(held, last):
                self.ideas[held.id].gone.append(student)

    def asked(self, parts: spreads.Intervals | None, students: int) -> Asked:
        """Return what the class shows of the question."""
        standings = {one: self.standings[one] for one in Standing}
        standings[Standing.MISSING] = students - self.standings.total()
        judged = sum(standings[one] for one in _JUDGED)
        groups = self._groups()
        return Asked(
            self.posed,
            standings,
            self._ideas(parts, judged),
            judged,
            _in_intervals(self.times, parts),
            self.several,
            groups,
            tuple(one for one in groups if 2 <= len(one.students) <= FEW and one.files > 1),
            self._same(),
            spreads.points(self.posed.id, self.points, self.posed.of),
        )

    def _ideas(self, parts: spreads.Intervals | None, judged: int) -> tuple[Held, ...]:
        found = [
            Held(
                name,
                tuple(line for line, _ in idea.lines.most_common() if line),
                tuple(idea.students),
                len(idea.students) / judged if judged else 0.0,
                tuple(idea.shared),
                tuple(idea.unsure),
                dict(sorted(idea.parts.items())),
                _in_intervals(idea.times, parts),
                tuple(idea.gone),
            )
            for name, idea in self.ideas.items()
        ]
        return tuple(sorted(found, key=lambda one: (-len(one.students), -len(one.gone), one.id)))

    def _groups(self) -> tuple[Group, ...]:
        ordered = sorted(self.answers.items(), key=lambda one: (-len(one[1].students), one[0]))
        shown = handles(self.digests)
        return tuple(
            Group(
                self.posed.id,
                f"{self.posed.id}#{number}",
                shown[digest],
                digest,
                tuple(found.students),
                found.sentence,
                found.case,
                found.also,
                len(found.files),
            )
            for number, (digest, found) in enumerate(ordered, 1)
        )

    def _same(self) -> tuple[Same, ...]:
        found = [
            Same(self.posed.id, sha256, tuple(students), sha256 in self.passing)
            for sha256, students in self.files.items()
            if len(students) > 1
        ]
        return tuple(sorted(found, key=lambda one: (-len(one.students), one.sha256)))


_JUDGED = (
    Standing.PASSED, Standing.IDEA, Standing.EXPLAINED, Standing.UNEXPLAINED, Standing.STOPPED,
)  # fmt: skip


def _line(held: Named) -> str:
    return words.sentences(held.feedback, 1)[0]


def parts_of(report: Report, held: Named) -> set[int]:
    """Return the numbers of the parts in which an idea shows."""
    failing = words.deciding(report)
    found = {check.part for check in failing if check.id in held.checks}
    found = found or {check.part for check in failing if {*held.seen} & {*check.failing}}
    return found or {check.part for check in failing[:1]}


def _gone(held: Named, last: Report) -> bool:
    """Return whether a later hand-in does right what an idea gets wrong."""
    if last.verdict is Verdict.PASS:
        return True
    verdicts = {check.id: check.verdict for check in last.checks}
    return bool(held.checks) and all(verdicts.get(id_) is Verdict.PASS for id_ in held.checks)


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
    found = {}
    for at, digest in enumerate(known):
        alike = max(
            (
                _common(digest, other)
                for other in (*known[max(at - 1, 0) : at], *known[at + 1 : at + 2])
            ),
            default=0,
        )
        found[digest] = digest[: max(DIGITS, alike + 1)]
    return found


def _common(one: str, other: str) -> int:
    """Return how many first characters two texts share."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _in_intervals(times: Iterable[datetime], parts: spreads.Intervals | None) -> tuple[int, ...]:
    if parts is None:
        return ()
    found = Counter(map(parts.of, times))
    return tuple(found[n] for n in range(len(parts.labels)))
