"""Audit a question: right passes, wrong does not, and every wrong idea is called by its name.

Every program goes through every check, needs or no needs, so that what each check can tell is
known; what a grade would have skipped is worked out afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from grader.audit import matrix, right, text, trivial
from grader.audit.subjects import Seen, Subject, always_raised, result_of, subjects
from grader.evaluation.again import Unsteady, require_steady
from grader.evaluation.evaluation import BankFault
from grader.explain.naming import Failure, diagnose
from grader.kinds import registry
from grader.model.audit import Accepted, AuditReport, AuditRow, CheckFacts, Trivial
from grader.model.question import Question
from grader.model.report import CheckResult
from grader.model.spec import Check
from grader.session import GradingSession
from grader.session.order import CheckSchedule

Progress = Callable[[str], None]


def audit(
    question: Question, *, seeds: Sequence[int], progress: Progress | None = None
) -> AuditReport:
    """Audit one question, its cases drawn anew by each seed; `progress` gets a line per step."""
    began = time.perf_counter()
    found = _Audit(question, seeds, progress or (lambda _: None), subjects(question))
    try:
        with GradingSession(question) as session, np.errstate(all="ignore"):
            session.bank.restore()
            found.run_again(session)
            found.put_through_all_checks(session)
            if found.is_sound:
                found.look_further(session)
    except BankFault as fault:
        found.problems.append(str(fault))
    rows = tuple(matrix.row(question, s) for s in found.subjects if s.seen)
    checks = tuple(found.facts(check, rows) for check in question.spec.checks)
    problems, remarks = found.problems, list(text.remarks(question))
    if not problems:
        problems = matrix.problems(question, found.subjects, seeds)
        if found.is_sound:
            problems += found.rejected
            problems += matrix.idle(question, rows, found.subjects)
            problems += trivial.problems(found.trivial)
        remarks += matrix.remarks(question, rows, found.subjects)
        remarks += trivial.remarks(question, found.trivial)
        remarks += text.remarks_on_a_sound_one(question)
    return AuditReport(
        question=question.id,
        title=question.spec.title,
        seeds=tuple(seeds),
        seconds=time.perf_counter() - began,
        checks=checks,
        programs=rows,
        problems=tuple(problems),
        remarks=tuple(remarks),
        notes=tuple(found.notes()),
        trivial=tuple(found.trivial),
        accepted=tuple(found.accepted),
    )


@dataclass(slots=True)
class _Audit:
    """What the seeds have shown so far."""

    question: Question
    seeds: Sequence[int]
    progress: Progress
    subjects: list[Subject]
    trivial: list[Trivial] = field(default_factory=list)
    accepted: list[Accepted] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)  # right programs, a sentence each
    unmade: list[str] = field(default_factory=list)  # styles that the reference has not
    problems: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether the reference passes, so that others can be held against it."""
        return not self.problems and not matrix.rejected(self.subjects[0])

    def run_again(self, session: GradingSession) -> None:
        """See that the reference computes the same in a process of its own, and once more there.

        Raises:
            Unsteady: it does not.
        """
        reference, seed = [self.question.reference], self.seeds[0]
        try:
            evaluation = session.examine("again", reference, seed, called="the reference")
            for _ in range(2):
                require_steady(evaluation, evaluation.submission)
        except Unsteady:
            raise
        except BankFault:
            return  # which its own row will say

    def put_through_all_checks(self, session: GradingSession) -> None:
        """Examine every program on every seed; once the reference does not pass, it alone."""
        for number, seed in enumerate(self.seeds, 1):
            for subject in self.subjects:
                if subject.name != "reference" and not self.is_sound:
                    break
                self._say(f"seed {number} of {len(self.seeds)}, {subject.name}")
                try:
                    self._examine(session, subject, seed)
                except BankFault as fault:
                    self.problems.append(f"seed {seed}, {subject.name}: {fault}")
                    return

    def look_further(self, session: GradingSession) -> None:
        """Other right programs; and trivial answers, for which one seed is enough."""
        own, rejected = right.hold_written(session, self.seeds, self._say)
        (others, turned_down), self.unmade = right.hold_derived(session, self.seeds, self._say)
        self.accepted, self.rejected = own + others, rejected + turned_down
        self.rejected += text.faulty_log(self.question)
        self._say("trivial answers")
        self.trivial = trivial.try_answers(session, self.seeds[-1])

    def facts(self, check: Check, rows: Sequence[AuditRow]) -> CheckFacts:
        """What is known of a check in the end."""
        return CheckFacts(
            id=check.id,
            kind=check.kind,
            stretch=check.stretch,
            stops=matrix.stops(rows, check.id),
            first=matrix.first(self.question, rows, check.id),
            lets_through=tuple(t.name for t in self.trivial if t.made and check.id in t.passes),
        )

    def notes(self) -> Iterator[str]:
        """What was left out."""
        for check in self.question.spec.checks:
            if registry.get(check.kind).timed:
                yield f"{check.id} was run on the reference only"
        yield from self.unmade
        if unmade := ", ".join(t.name for t in self.trivial if not t.made):
            yield (
                f"the trivial answers {unmade} could not be made: what is checked is not "
                "what the functions return"
            )

    def _say(self, line: str) -> None:
        self.progress(f"{self.question.id}: {line}")

    def _examine(self, session: GradingSession, subject: Subject, seed: int) -> None:
        """Put a program through every check on one seed, and have it named."""
        is_reference = subject.name == "reference"
        evaluation = session.examine(
            f"subject {subject.name}", subject.sources, seed,
            called=subject.name, file=subject.file, parts=subject.parts,
        )  # fmt: skip
        results: dict[str, CheckResult] = {}
        for check in self.question.spec.checks:
            results[check.id] = result_of(evaluation, check, timed=is_reference)
        graded, evaluation.parts_asked = as_graded(self.question, results)
        found = diagnose(Failure.of(evaluation, tuple(graded.values())))
        subject.seen.append(
            Seen(
                seed,
                results,
                graded,
                named=found.confused.union(n.id for n in found.named),
                raised=None if is_reference else always_raised(evaluation, results),
            )
        )


def as_graded(
    question: Question, results: Mapping[str, CheckResult]
) -> tuple[dict[str, CheckResult], int]:
    """The results as a grade would report them, some skipped, and how many parts it asks."""
    course = CheckSchedule(question.spec, range(1, len(question.spec.parts) + 1))
    for part, check in course.order:
        result = course.skipped(part, check) or results[check.id]
        course.done[check.id] = replace(result, part=part)
    return {check.id: course.done[check.id] for check in question.spec.checks}, course.asked
