"""Results of an audit of a question as plain frozen data.

A *problem* is a fault of the question, and the audit fails.  A *remark* suggests an improvement and
fails only a strict audit.  A *note* names a step that was left out or takes long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum, auto

from grader.model.mutants import Mutant, Reach

AUDIT_FORMAT = 2


class MatrixCell(StrEnum):
    """Result of one check for one program, over all seeds."""

    PASSES = auto()  # the check lets the program pass on every seed
    KILLS = auto()  # the check fails the program on every seed
    WOULD_KILL = auto()  # the same, but a grade skips the check, because one that it needs fails
    VARIES = auto()  # it depends on the seed
    NOT_RUN = auto()


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One program, and the results of all checks on it.

    The program is the reference, the starter, or a variant of a misconception.
    """

    name: str  # "reference", "starter", "even-split", "even-split (2)"
    misconception: str | None  # "even-split"; None for the reference and the starter
    cells: Mapping[str, MatrixCell]  # by check id
    named: tuple[str, ...]  # misconceptions that diagnosis named on every seed
    named_well: int  # seeds on which diagnosis named exactly the right ones
    seeds: int  # on which every check ran
    claimed_by: tuple[str, ...] = ()  # checks that the spec says kill it
    # For each check whose cell is VARIES: the seeds on which the program passes it.
    passing_seeds: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckFacts:
    """How many wrong programs one check stops, and which trivial answers pass it."""

    id: str
    kind: str
    stretch: bool
    stops: int  # wrong programs that fail it on some seed, even if a grade would skip it
    first: int  # those of them that no earlier required check kills
    lets_through: tuple[str, ...] = ()  # names of trivial answers that pass it


@dataclass(frozen=True, slots=True)
class TrivialAnswer:
    """An answer that takes no thought, and the checks that it passes."""

    name: str  # "zeros", "first-call"
    about: str  # what it returns: "zeros of the right form"
    passes: tuple[str, ...]
    accepted: bool  # True if it passes every check that decides
    made: bool = True  # False if its results equal the reference's: it proves nothing


@dataclass(frozen=True, slots=True)
class AcceptedSolutionResult:
    """Result of grading a right program other than the reference."""

    name: str
    passed: int  # number of seeds on which it passes every check that decides
    seeds: int  # number of seeds tried
    derived: bool = False  # True if the audit made it from the reference


@dataclass(frozen=True, slots=True)
class PlantingResult:
    """Result of planting wrong ideas in accepted solutions: does diagnosis still name them?

    A *plant* is an accepted solution in which a variant's wrong functions replace the right ones.
    Each is graded on one seed.
    """

    named: int  # plants whose diagnosis names exactly their idea
    missed: tuple[str, ...]  # the other failing plants: "even-split in loops (named: nothing)"
    passing: int  # plants that pass: the solution does not use the functions that are replaced
    impossible: int  # variants that fit into no accepted solution that was tried

    @property
    def named_share(self) -> float:
        """Return the share of failing plants that are named; at least one plant must fail."""
        return self.named / (self.named + len(self.missed))


@dataclass(frozen=True, slots=True)
class Budget:
    """How near programs come to the budget of a check, each in its most expensive case.

    Of the right programs it is the one nearest to the limit, of the wrong ones the one that exceeds
    it least.
    """

    check: str
    right: str  # the right program that comes nearest to the limit
    right_share: float  # 0.8 for 80 % of the budget
    wrong: str  # the nearest wrong program above the limit; empty without one
    wrong_share: float


@dataclass(frozen=True, slots=True)
class Remark:
    """Suggested improvement of the question."""

    # One of: redundant, starter, parts, todo, unused, unclaimed, repair, prerequisites, planted,
    # tolerance.
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Result of an audit of one question, from which a proof is made if there are no problems."""

    question: str
    title: str
    seeds: tuple[int, ...]
    seconds: float
    checks: tuple[CheckFacts, ...]  # in order
    programs: tuple[AuditRow, ...]
    problems: tuple[str, ...]
    remarks: tuple[Remark, ...] = ()
    notes: tuple[str, ...] = ()  # steps that were left out or take long
    trivial: tuple[TrivialAnswer, ...] = ()
    accepted: tuple[AcceptedSolutionResult, ...] = ()
    budgets: tuple[Budget, ...] = ()
    planted: PlantingResult | None = None  # None if no plant fails a check

    @property
    def ok(self) -> bool:
        """Return True if the question has no problem."""
        return not self.problems

    def first_check_stopping(self, idea: str) -> str:
        """Return the first required check that kills every variant of an idea, for `killed_by`.

        Return "" if no check kills all of them, or if the idea has a `killed_by` already.
        """
        rows = [row for row in self.programs if row.misconception == idea and not row.claimed_by]
        if not rows:
            return ""
        for check in self.checks:
            kills = all(row.cells.get(check.id) is MatrixCell.KILLS for row in rows)
            if kills and not check.stretch:
                return check.id
        return ""


class MutantFate(StrEnum):
    """Outcome of a mutant."""

    KILLED = "killed"  # a check that decides fails it, on every seed
    EQUIVALENT = "equivalent"  # it passes, and no input was found on which it is wrong
    EXPLAINED = "explained"  # it passes on some seed, and `survivors` in the spec says why it may
    SURVIVED = "survived"  # it passes, and it is wrong on some input or moves a bound
    FLAKY = "flaky"  # it passes on some seeds, and is killed on the others


@dataclass(frozen=True, slots=True)
class Counterexample:
    """An input on which a mutant differs from the reference.

    Of those found it is nearest to the question's cases (`reach`), and of these the smallest.
    """

    reach: Reach
    run: str
    case: str  # the case of the question that it was made from
    inputs: str  # as a case is written in YAML
    seed: int
    result: str | None  # name of the wrong result; None if something else differs
    sentence: str
    advice: str


@dataclass(frozen=True, slots=True)
class MutantTrial:
    """One mutant and its outcome."""

    mutant: Mutant
    fate: MutantFate
    killed_by: str | None = None  # a check, or "loading"
    seed: int | None = None  # on which it was killed first
    passing_seeds: tuple[int, ...] = ()  # if it is killed on the other seeds only
    because: str | None = None  # why it may pass, in the words of the spec
    counterexample: Counterexample | None = None


@dataclass(frozen=True, slots=True)
class MutationReport:
    """Results of all tried mutants of a question."""

    question: str
    derived: int  # number of mutants that could be made
    trials: tuple[MutantTrial, ...]  # one for each mutant that was tried
    seeds: tuple[int, ...]
    searched: int  # inputs on which passing mutants were compared with the reference
    seconds: float
    problems: tuple[str, ...]
    interrupted: bool = False

    def count(self, fate: MutantFate) -> int:
        """Return the number of mutants with this fate."""
        return sum(trial.fate is fate for trial in self.trials)

    @property
    def score(self) -> float | None:
        """Return the share of wrong mutants killed on every seed; None if no mutant is wrong.

        Equivalent mutants are not wrong, and explained ones do not count.
        """
        killed = self.count(MutantFate.KILLED)
        wrong = killed + self.count(MutantFate.SURVIVED) + self.count(MutantFate.FLAKY)
        return killed / wrong if wrong else None

    @property
    def ok(self) -> bool:
        """Return True if there is no problem, such as a survivor or a stale explanation."""
        return not self.problems
