"""What does diagnosis call a mutant, and is that true?

A mutant is a wrong answer that nobody listed.  Where its name is that of an idea, it has to compute
what a variant of the idea computes: on the cases of the question, as diagnosis has seen, and on
further inputs as well, where sizes no longer make two things one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from grader.audit.subjects import result_of
from grader.cases.dataflow import free_names
from grader.cases.recipe import CaseRecipe
from grader.cases.vary import written
from grader.evaluation.evaluation import BankFault, Evaluation
from grader.evaluation.results import same_value
from grader.explain.failure import Failure
from grader.explain.further import Further
from grader.explain.naming import diagnose
from grader.model.report import Named
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import ProgramError
from grader.session import GradingSession
from grader.session.order import Course

EACH = 4  # further inputs from a case


@dataclass(frozen=True, slots=True)
class Called:
    """The names that a wrong program is given, and why some of them are false."""

    names: tuple[str, ...] = ()
    false: tuple[str, ...] = ()


class Naming:
    """Has mutants named, one after another."""

    def __init__(self, session: GradingSession, seed: int) -> None:
        """Draw nothing yet."""
        self._session = session
        self._seed = seed

    @cached_property
    def _further(self) -> Further:
        bank = self._session.bank
        return Further(bank.evaluation(bank.reference, self._seed))

    def of(self, evaluation: Evaluation) -> Called:
        """What the evaluation's program is called, by a grade without what is timed."""
        evaluation.asks_system = False
        if not evaluation.question.variants or _is_gone(evaluation):
            return Called()
        spec = evaluation.question.spec
        course = Course(spec, range(1, len(spec.parts) + 1))
        for part, check in course.order:
            course.done[check.id] = course.skipped(part, check) or result_of(evaluation, check)
            course.done[check.id] = replace(course.done[check.id], part=part)
        done = tuple(course.done[check.id] for check in spec.checks)
        evaluation.parts_asked = course.asked
        named = diagnose(Failure.of(evaluation, done)).named
        if _is_gone(evaluation):
            return Called(tuple(n.id for n in named))
        false = (reason for n in named if (reason := self._refuted(evaluation, n)))
        return Called(tuple(n.id for n in named), tuple(false))

    def _refuted(self, evaluation: Evaluation, named: Named) -> str:
        """A further input on which a program is none of the idea's variants; empty without one."""
        count = len(evaluation.question.variants[named.id])
        left, last = set(range(count)), ""
        for run, case in self._inputs():
            mine = self._values(
                self._further.evaluation.with_submission(evaluation.submission), run, case
            )
            if mine is None:
                continue  # outside of what it takes
            for index in list(left):
                program = self._session.bank.variant(named.id, index)
                idea = self._values(self._further.evaluation.with_bank_program(program), run, case)
                if idea is None:
                    continue
                differs = [
                    name
                    for name, value in mine.items()
                    if (named.exact or name in named.results)
                    and not same_value(value, idea.get(name), case.dtype)
                ]
                if differs:
                    left.discard(index)
                    names = list(free_names(evaluation.steps(run)))
                    last = f"{differs[0]} is another on {', '.join(written(case, names))}"
            if not left:
                how = "" if named.exact else " in part"
                return f"it is called {named.id}{how}, and {last}"
        return ""

    def _inputs(self) -> Iterator[tuple[str, CaseRecipe]]:
        """A run and a further input of it, those that are quick to read first."""
        own = {name: EACH for name in self._own_cases}
        for run in self._session.question.runs:
            for case, _ in self._further.of(run, own):
                yield run, case

    @cached_property
    def _own_cases(self) -> list[str]:
        bank = self._session.bank
        return list(bank.evaluation(bank.reference, self._seed).cases)

    @staticmethod
    def _values(evaluation: Evaluation, run: str, case: CaseRecipe) -> dict[str, object] | None:
        try:
            return dict(evaluation.observed(run, case).values)
        except (ProgramError, WorkerError, BankFault):
            return None


def _is_gone(evaluation: Evaluation) -> bool:
    return evaluation.submission.worker.failure is not None
