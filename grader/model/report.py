"""Results of a grade as plain frozen data, to be stored, sent and printed."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

REPORT_FORMAT = 1
SMALLER_INPUTS_NOTE = "shown with smaller inputs"  # on a case whose own inputs are larger


class Verdict(StrEnum):
    """Verdict on a check or on a whole submission."""

    PASS = "pass"
    FAIL = "fail"  # it ran and is wrong
    ERROR = "error"  # it raised, died, or broke the protocol
    LIMIT = "limit"  # time, memory or output
    SKIPPED = "skipped"  # checks only: something it needs did not pass
    INCONCLUSIVE = "inconclusive"  # checks only: a measurement too noisy to decide; fails nobody
    INVALID = "invalid"  # the question bank is at fault


NON_FAILING_VERDICTS = frozenset({Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.SKIPPED})


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The worst disagreement of one result on one case."""

    result: str  # name of the result, e.g. "grad_x"
    case: str
    index: tuple[int, ...] | None  # None if it has no index: a type, a shape, a scalar
    observed: str  # four significant digits, or words ("NaN", "a list")
    expected: str
    allowed: str | None  # the band around the expected value; None if it must be equal
    wrong: int  # entries outside the band
    total: int


@dataclass(frozen=True, slots=True)
class Panel:
    """A small array as a reader sees it: one 2-D slice, already formatted."""

    title: str  # "x", "grad_x, yours", "grad_x, expected"
    rows: tuple[tuple[str, ...], ...]
    wrong: frozenset[tuple[int, int]] = frozenset()  # (row, column) of entries outside the band
    focus: frozenset[tuple[int, int]] = frozenset()  # the entry, row or window that matters
    note: str = ""  # "plane [0, 2] of (2, 3, 5, 7)" for a slice of a larger array


@dataclass(frozen=True, slots=True)
class Entries:
    """Every entry of a result, in row-major order, as numbers that can be drawn."""

    shape: tuple[int, ...]
    yours: tuple[float, ...]
    expected: tuple[float, ...]
    wrong: tuple[int, ...]  # indices of those outside the band


@dataclass(frozen=True, slots=True)
class Grids:
    """Arrays to show side by side."""

    panels: tuple[Panel, ...]
    entries: Entries | None = None  # of the result, if it is small


@dataclass(frozen=True, slots=True)
class BreakdownRow:
    """One line of a breakdown: a named part, yours and expected, and its fault."""

    name: str
    observed: str
    expected: str
    note: str = ""  # "missing", "half", "counted twice"; empty if right


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
    """Quantities to compare by length; `details` are lines below them, as tensors that were kept.

    For a peak of bytes, `course` has the bytes in use over time, by yours and by the reference, and
    `details` lists the tensors of yours at its peak.
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
    cell: int = 0  # of a notebook, from 1; lines are counted in it; 0 in a file


UNREADABLE_TYPE = "Unreadable"  # of an answers file that the form cannot read


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
        """Return the type if it is built in; else "an exception", as a program chose the name."""
        builtin = getattr(builtins, self.type, None)
        is_builtin = isinstance(builtin, type) and issubclass(builtin, BaseException)
        return self.type if is_builtin else "an exception"

    @property
    def is_unparsable_file(self) -> bool:
        """Return True if the file itself cannot be read or parsed.

        A syntax error that its running code raised has frames and no column.
        """
        if self.type == UNREADABLE_TYPE:
            return True
        is_syntax_error = self.type in {"SyntaxError", "IndentationError", "TabError"}
        is_raised_by_code = self.column is None and bool(self.frames)
        return is_syntax_error and not is_raised_by_code


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence of the contract."""

    number: int  # as the candidate sees it, from 1 through all parts
    text: str


NO_ANSWER_YET = "no answer yet"  # end of the message of a check whose answers are open


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check."""

    id: str
    kind: str
    verdict: Verdict
    message: str  # one sentence, without the check's id
    cases: tuple[str, ...] = ()  # the cases it was tried on
    failing: tuple[str, ...] = ()  # the failing ones, smallest first
    part: int = 1  # the number of the part that it belongs to
    stretch: bool = False
    blocked_by: str | None = None  # skipped: the check that did not pass
    case_line: str = ""  # the smallest failing case: "kernel 3, stride 3, x (1, 1, 3, 3)"
    about: str = ""  # the same in the question's words: "one entry that wins all four windows"
    inputs: Mapping[str, str] = field(default_factory=dict)  # as text: {"x": "(1, 1, 3, 3)"}
    call: str = ""  # the call there, if every argument is short: "gpus(7, 'bf16')"
    mismatch: Mismatch | None = None
    exhibit: Exhibit | None = None
    raised: ExceptionRecord | None = None
    figures: Mapping[str, float] = field(default_factory=dict)  # measured numbers by name
    effect: bool = False  # its values are right, but not the side effects of a call
    estimate: bool = False  # it needs an estimate: the right number is not shown
    clauses: tuple[Clause, ...] = ()  # that the check enforces and the submission breaks
    points: int = 0  # earned points of its part
    of: int = 0  # maximum; 0: the points of the part are not shared, or do not count

    @property
    def fails(self) -> bool:
        """Return True if the submission does not pass the check."""
        return self.verdict not in NON_FAILING_VERDICTS

    @property
    def is_unanswered(self) -> bool:
        """Return True if answers that the check needs are open."""
        return self.message.endswith(NO_ANSWER_YET)


@dataclass(frozen=True, slots=True)
class PartResult:
    """Result of one part of a question."""

    id: str
    verdict: Verdict  # `skipped`: not asked, because an earlier part did not pass
    points: int  # earned: all, or the points of the passing checks
    of: int  # maximum; 0: the part does not count in this grade


@dataclass(frozen=True, slots=True)
class IdeaMatch:
    """An idea whose results equal the submission's results."""

    id: str
    feedback: str
    exact: bool  # equal wherever the idea differs from the reference; else only in `results`
    results: tuple[str, ...]  # names of the results on which they agree
    cases: int  # failing cases they agree on; if exact, in everything that is wrong there
    failing: int = 0  # failing cases in all
    seen: tuple[str, ...] = ()  # these cases
    checks: tuple[str, ...] = ()  # the checks that fail and are there to catch it
    rounded: bool = False  # they agree after rounding, by a person or to float32, not exactly
    # A clause, if it fits every failing case and is not sure: "but so does ...".
    doubt: str = ""


STATE: Literal["state"] = (
    "state"  # the program remembers earlier calls, so that its values prove nothing
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Further statement about a fault, with or without a named idea."""

    kind: Literal["state", "pair", "rule", "class", "results"]
    text: str  # one sentence, true of all its failing cases
    cases: tuple[str, ...]  # failing cases of the question on which it is true


@dataclass(frozen=True, slots=True)
class Report:
    """Result of one grade."""

    question: str
    title: str
    verdict: Verdict
    seed: int
    isolation: str  # "strong", "limited", "process"; "" if it never ran
    seconds: float
    parts: tuple[PartResult, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    misconceptions: tuple[IdeaMatch, ...] = ()
    explanations: tuple[Explanation, ...] = ()  # the most certain first
    message: str = ""  # why no check was tried; or names that the submission lacks
    raised: ExceptionRecord | None = None  # likewise
    printed: str = ""  # the tail of the submission's output
    sha256: str = ""  # of the submission's bytes
    follow_up: str = ""  # on a pass: one question to think about
    note: str = ""  # steps that were left out for lack of time
    bank: str = ""  # path of the bank that the question came from
    digest: str = ""  # of the question: its spec and all its programs
    program: str = ""  # version of drill
    unchanged: bool = False  # it has the code of the starter, or of the last version that passed
    outputs: str = ""  # digest of its wrong results; "" without wrong results
    unread: tuple[str, ...] = ()  # in a class: unreadable lines of answers, and why
    stopped: tuple[str, ...] = ()  # in a class: exceptions of the file, whose rest counts
    format: int = REPORT_FORMAT

    @property
    def parts_passed(self) -> int:
        """Return the number of parts that pass, from the first one on without a gap."""
        passing = [part.verdict is Verdict.PASS for part in self.parts]
        return [*passing, False].index(False)
