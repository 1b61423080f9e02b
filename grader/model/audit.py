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

    PASSES = auto()
    KILLS = auto()
    WOULD_KILL = auto()  # it does not pass, but in a grade it would be skipped for a check it needs
    VARIES = auto()  # it depends on the seed
    NOT_RUN = auto()


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One program: the reference, the starter, or one variant of a misconception."""

    name: str  # "reference", "starter", "even-split", "even-split (2)"
    misconception: str | None
    cells: Mapping[str, MatrixCell]  # by check id
    named: tuple[str, ...]  # misconceptions that diagnosis named on every seed
    named_well: int  # seeds on which diagnosis named exactly the right ones
    seeds: int  # on which every check ran
    claimed_by: tuple[str, ...] = ()  # checks that the spec says kill it
    # By a check that VARIES: the seeds on which the program passes it.
    passing_seeds: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckFacts:
    """Facts about one check, after all programs were tried."""

    id: str
    kind: str
    stretch: bool
    stops: int  # wrong programs that it does not pass on every seed, also if it would be skipped
    first: int  # the programs among them that no earlier check stops
    lets_through: tuple[str, ...] = ()  # trivial answers that pass it


@dataclass(frozen=True, slots=True)
class TrivialAnswer:
    """An answer that takes no thought, and the checks that it passes."""

    name: str  # "zeros", "first-call"
    about: str  # "returns zeros of the right shape"
    passes: tuple[str, ...]
    accepted: bool  # every check that decides lets it through
    made: bool = True  # False if its results equal the reference's: it proves nothing


@dataclass(frozen=True, slots=True)
class AcceptedSolutionResult:
    """Result of a right program other than the reference."""

    name: str
    passed: int  # seeds on which every check that decides passes it
    seeds: int
    derived: bool = False  # by the audit, from the reference


@dataclass(frozen=True, slots=True)
class PlantingResult:
    """Result of planting ideas into accepted solutions, on one seed: are they named?"""

    named: int  # by exactly their own name
    missed: tuple[str, ...]  # "even-split in loops (named: nothing)"
    passing: int  # plants that pass: the solution does not use the functions that are replaced
    impossible: int  # variants that fit into no accepted solution that was tried

    @property
    def named_share(self) -> float:
        """Return the named share of the plants that fail a check."""
        return self.named / (self.named + len(self.missed))


@dataclass(frozen=True, slots=True)
class Budget:
    """Shares of a check's budget that programs use, in the case where they use most.

    One right and one wrong program are kept: those nearest to the limit.
    """

    check: str
    right: str  # the right program that comes nearest to it
    right_share: float
    wrong: str  # the nearest program above it; empty without one
    wrong_share: float


@dataclass(frozen=True, slots=True)
class Remark:
    """Suggested improvement of the question."""

    # redundant, starter, parts, todo, unused, unclaimed, repair, prerequisites
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The proof of one question, or its problems."""

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
    planted: PlantingResult | None = None  # None if no idea fits into an accepted solution

    @property
    def ok(self) -> bool:
        """Return True if the question has no problem."""
        return not self.problems

    def first_check_stopping(self, idea: str) -> str:
        """Return the first check that stops every variant of an unclaimed idea, or ""."""
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

    KILLED = "killed"  # a check that decides does not pass
    EQUIVALENT = "equivalent"  # it never differed from the reference in the search
    EXPLAINED = "explained"  # it passes, and the spec says why that is as it should be
    SURVIVED = "survived"  # it passes, and there are inputs on which it is wrong
    FLAKY = "flaky"  # it passes on some seeds, and is killed on the others


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The smallest input found on which a mutant differs from the reference."""

    reach: Reach
    run: str
    case: str  # the case of the question that it was made from
    inputs: str  # as a case is written in YAML
    seed: int
    result: str | None  # what differs; None if it is not a result
    sentence: str
    advice: str


@dataclass(frozen=True, slots=True)
class MutantTrial:
    """One mutant and its outcome."""

    mutant: Mutant
    fate: MutantFate
    killed_by: str | None = None  # a check, or "loading"
    seed: int | None = None  # on which it was killed first
    passing_seeds: tuple[int, ...] = ()  # of one that is killed on the others
    because: str | None = None  # the spec's words
    counterexample: Counterexample | None = None


@dataclass(frozen=True, slots=True)
class MutationReport:
    """All mutants of a reference."""

    question: str
    derived: int  # number of mutants that exist
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
        """Return the share of wrong mutants that every seed kills; None if no mutant is wrong.

        Equivalent mutants are not wrong, and explained ones do not count.
        """
        killed = self.count(MutantFate.KILLED)
        wrong = killed + self.count(MutantFate.SURVIVED) + self.count(MutantFate.FLAKY)
        return killed / wrong if wrong else None

    @property
    def ok(self) -> bool:
        """Return True if the question wrongly accepts no mutant."""
        return not self.problems
