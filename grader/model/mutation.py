"""What mutants showed: small changes of the reference, and which of them a question accepts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Mutant:
    """One small change of a program: bytes `start` to `end` of its text become `text`."""

    scope: str  # the function, "SwiGLUFn.backward", or "module"
    line: int
    rule: str  # "dropped term"
    was: str  # the statement, written as `ast.unparse` writes it
    becomes: str
    start: int
    end: int
    text: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What names a mutant, whatever line it stands in and however the source is laid out."""
        return key(self.scope, self.was, self.becomes)

    @property
    def rank(self) -> bytes:
        """A number drawn from the key: the order in which a sample takes mutants."""
        return hashlib.sha256("\0".join((*self.key, str(self.line))).encode()).digest()

    def source(self, original: bytes) -> bytes:
        """The whole mutated text."""
        plain = normalized(original)
        return plain[: self.start] + self.text.encode() + plain[self.end :]


def key(scope: str, was: str, becomes: str) -> tuple[str, str, str]:
    """A key whose white space does not matter."""
    return " ".join(scope.split()), " ".join(was.split()), " ".join(becomes.split())


def normalized(source: bytes) -> bytes:
    """A source without byte order mark, its lines ended by a newline each."""
    return source.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"  # a check that decides does not pass
    EQUIVALENT = "equivalent"  # it never differed from the reference in the search
    EXPLAINED = "explained"  # it passes, and the spec says why that is as it should be
    SURVIVED = "survived"  # it passes, and there are inputs on which it is wrong
    FLAKY = "flaky"  # it passes on some seeds, and is killed on the others


class Reach(StrEnum):
    """How far from the question's own cases an input was found."""

    SAME = "another draw of the case"
    VALUES = "the case with small whole numbers"
    SIZES = "the case in other sizes, dtypes or layouts"
    NUMBERS = "the case with other numbers"


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The smallest input found on which a mutant differs from the reference."""

    reach: Reach
    run: str
    case: str  # the case of the question that it was made from
    inputs: str  # as a case is written in YAML
    seed: int
    result: str | None  # what differs; None where it is not a result
    sentence: str
    advice: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One mutant, and what became of it."""

    mutant: Mutant
    fate: Fate
    killed_by: str | None = None  # a check, or "loading"
    seed: int | None = None  # on which it was killed first
    passing_seeds: tuple[int, ...] = ()  # of one that is killed on the others
    because: str | None = None  # the spec's words
    counterexample: Counterexample | None = None


@dataclass(frozen=True, slots=True)
class MutationReport:
    """All mutants of a reference."""

    question: str
    derived: int  # mutants that there are
    trials: tuple[Trial, ...]  # those that were tried
    seeds: tuple[int, ...]
    searched: int  # inputs on which those that passed were held against the reference
    seconds: float
    problems: tuple[str, ...]
    interrupted: bool = False

    def count(self, fate: Fate) -> int:
        """How many mutants came to this."""
        return sum(trial.fate is fate for trial in self.trials)

    @property
    def score(self) -> float | None:
        """Share of the wrong mutants that were killed on every seed; None when none was wrong.

        Equivalent ones are not wrong, and explained ones are not held against the question.
        """
        killed = self.count(Fate.KILLED)
        wrong = killed + self.count(Fate.SURVIVED) + self.count(Fate.FLAKY)
        return killed / wrong if wrong else None

    @property
    def ok(self) -> bool:
        """Whether no mutant is left that the question wrongly accepts."""
        return not self.problems
