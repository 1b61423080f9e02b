"""What a grade found: plain frozen data, which can be stored, sent and printed at any time."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

REPORT_FORMAT = 1
SMALLER_INPUTS_NOTE = (
    "shown with smaller inputs"  # about a case that is shown with smaller inputs than it has
)


class Verdict(StrEnum):
    """What became of a check or of a whole submission."""

    PASS = "pass"
    FAIL = "fail"  # it ran and is wrong
    ERROR = "error"  # it raised, died, or broke the protocol
    LIMIT = "limit"  # time, memory or output
    SKIPPED = "skipped"  # checks only: something it needs did not pass
    INCONCLUSIVE = "inconclusive"  # checks only: a measurement too noisy to decide; fails nobody
    INVALID = "invalid"  # the question bank is at fault


NON_FAILING_VERDICTS = frozenset(
    {Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.SKIPPED}
)  # what turns nobody down


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The worst disagreement of one result on one case."""

    result: str  # name of the result, e.g. "grad_x"
    case: str
    index: tuple[int, ...] | None  # None where the fault has no place: a type, a shape, a scalar
    observed: str  # four significant digits, or words ("NaN", "a list")
    expected: str
    allowed: str | None  # the band around the expected value; None where it must be equal
    wrong: int  # entries outside the band
    total: int


@dataclass(frozen=True, slots=True)
class Panel:
    """A small array as a reader sees it: one 2-D slice, already formatted."""

    title: str  # "x", "grad_x, yours", "grad_x, expected"
    rows: tuple[tuple[str, ...], ...]
    wrong: frozenset[tuple[int, int]] = frozenset()  # (row, column) of entries outside the band
    focus: frozenset[tuple[int, int]] = frozenset()  # the entry, row or window that matters
    note: str = ""  # "plane [0, 2] of (2, 3, 5, 7)" when it is a slice of something larger


@dataclass(frozen=True, slots=True)
class Entries:
    """Every entry of a result, in row-major order, as numbers that can be drawn."""

    shape: tuple[int, ...]
    yours: tuple[float, ...]
    expected: tuple[float, ...]
    wrong: tuple[int, ...]  # places of those outside the band


@dataclass(frozen=True, slots=True)
class Grids:
    """Arrays to be set side by side."""

    panels: tuple[Panel, ...]
    entries: Entries | None = None  # of the result, where it is small


@dataclass(frozen=True, slots=True)
class BreakdownRow:
    """One line of a breakdown: a named part, yours and expected, and what is wrong with it."""

    name: str
    observed: str
    expected: str
    note: str = ""  # "missing", "half", "counted twice"; empty when right


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Named numbers with their unit already in the text."""

    rows: tuple[BreakdownRow, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a comparison."""

    label: str  # "yours", "allowed", "reference", "plain autograd"
    value: float
    text: str  # the value as printed, with its unit


@dataclass(frozen=True, slots=True)
class Bars:
    """Quantities to be compared by length; `details` are lines below them (what was kept).

    Of a peak of bytes `course` has what was held from the beginning to the end, by yours and by the
    reference, and `details` what yours held at its peak.
    """

    bars: tuple[Bar, ...]
    details: tuple[str, ...] = ()
    course: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Curve:
    """Two series over steps, for a sparkline each."""

    yours: tuple[float, ...]
    expected: tuple[float, ...]


Exhibit = Grids | Breakdown | Bars | Curve


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of the submission's own code in a traceback."""

    line: int
    function: str
    source: str
    cell: int = 0  # of a notebook, from 1, in which the line is counted; 0 in a file


UNREADABLE_TYPE = "Unreadable"  # of a file of answers that is not what was asked for


@dataclass(frozen=True, slots=True)
class ExceptionRecord:
    """An exception that left the submission: its own frames only, innermost last."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    step: str = ""  # the step that raised: "y, ctx = maxpool2d_forward(x, kernel, stride, padding)"
    called_with: str = ""  # "x (2, 3, 9) float64, stride 2"
    column: int | None = None  # syntax errors: 1-based column for the caret

    @property
    def public_type(self) -> str:
        """The type where it is Python's own, which no program chooses; else "an exception"."""
        known = getattr(builtins, self.type, None)
        own = isinstance(known, type) and issubclass(known, BaseException)
        return self.type if own else "an exception"

    @property
    def is_unparsable_file(self) -> bool:
        """Whether it says that the file is no Python; one that code raised has frames alone."""
        syntax = self.type in {"SyntaxError", "IndentationError", "TabError"}
        of_code = self.column is None and self.frames
        return self.type == UNREADABLE_TYPE or (syntax and not of_code)


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence of the contract."""

    number: int  # as the candidate sees it, from 1 through all parts
    text: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check."""

    id: str
    kind: str
    verdict: Verdict
    message: str  # one sentence, without the check's id
    cases: tuple[str, ...] = ()  # the cases it was tried on
    failing: tuple[str, ...] = ()  # those on which it did not pass, smallest first
    part: int = 1  # the number of the part that it belongs to
    stretch: bool = False
    blocked_by: str | None = None  # skipped: the check that did not pass
    case_line: str = ""  # the smallest failing case in words: "kernel 3, stride 3, x (1, 1, 3, 3)"
    about: str = ""  # the same in the question's words: "one entry that wins all four windows"
    inputs: Mapping[str, str] = field(default_factory=dict)  # in words: {"x": "(1, 1, 3, 3)"}
    call: str = ""  # what was called there, where every argument is short: "gpus(7, 'bf16')"
    mismatch: Mismatch | None = None
    exhibit: Exhibit | None = None
    raised: ExceptionRecord | None = None
    figures: Mapping[str, float] = field(default_factory=dict)  # measured numbers by name
    effect: bool = False  # its values are right: what a call did besides is not
    estimate: bool = False  # it needs an estimate: what is right is not shown either
    clauses: tuple[Clause, ...] = ()  # of what is wrong: those that the check enforces
    points: int = 0  # earned of its part's
    of: int = 0  # that could be; 0: its part's are not shared among checks, or do not count


@dataclass(frozen=True, slots=True)
class PartResult:
    """What became of one part of a question."""

    id: str
    verdict: Verdict  # `skipped`: not asked, because one before it did not pass
    points: int  # earned: all of them, or those of its checks that pass
    of: int  # that could be earned; 0: the part does not count in this grade


@dataclass(frozen=True, slots=True)
class IdeaMatch:
    """A misconception whose outputs the submission reproduces."""

    id: str
    feedback: str
    exact: bool  # equal wherever the idea differs from the reference; else only in `results`
    results: tuple[str, ...]  # names of the results on which they agree
    cases: int  # failing cases they agree on, if exact in everything that is wrong there
    failing: int = 0  # failing cases in all
    seen: tuple[str, ...] = ()  # these cases
    checks: tuple[str, ...] = ()  # the checks that fail and are there to catch it
    rounded: bool = (
        False  # they agree as far as a person writes them, or as float32 tells them apart
    )
    # A clause, if it gives the numbers of every failing case and is not sure: "but so does ...".
    doubt: str = ""


STATE: Literal["state"] = "state"  # something is remembered between calls: no value says anything


@dataclass(frozen=True, slots=True)
class Explanation:
    """What else is known of a fault, whether or not a misconception is named."""

    kind: Literal["state", "pair", "rule", "class", "results", "before"]
    text: str  # one sentence that is true of every failing case it speaks of
    cases: tuple[str, ...]  # of the question; the failing ones that it was seen on


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one grade found."""

    question: str
    title: str
    verdict: Verdict
    seed: int
    isolation: str  # "strong", "limited", "process": what it was refused; "" if never run
    seconds: float
    parts: tuple[PartResult, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    misconceptions: tuple[IdeaMatch, ...] = ()
    explanations: tuple[Explanation, ...] = ()  # the surest first
    message: str = ""  # why no check was tried; or what the submission does not define yet
    raised: ExceptionRecord | None = None  # likewise
    printed: str = ""  # the end of what the submission printed, as text
    sha256: str = ""  # of the submission's bytes
    follow_up: str = ""  # on a pass: one question to think about
    note: str = ""  # what there was no time for
    bank: str = ""  # path of the bank that the question came from
    digest: str = ""  # of the question: its spec and all its programs
    program: str = ""  # version of drill
    unchanged: bool = False  # whether it has the code of the starter, or of what passed before
    outputs: str = ""  # digest of what is wrong in what it computed; "" where nothing was
    unread: tuple[str, ...] = ()  # in a class: lines of answers that count as not given, and why
    stopped: tuple[str, ...] = ()  # in a class: what the file raised, though the rest of it counts
    format: int = REPORT_FORMAT

    @property
    def parts_passed(self) -> int:
        """How many parts pass, from the first one on without a gap."""
        passing = [part.verdict is Verdict.PASS for part in self.parts]
        return [*passing, False].index(False)
