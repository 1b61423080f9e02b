"""Results of a grade as plain frozen data, to be stored, sent and printed."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

REPORT_FORMAT = 1
SMALLER_INPUTS_NOTE = "shown with smaller inputs"  # `about`, if smaller inputs replace the case's


class Verdict(StrEnum):
    """Verdict on a check, on a part or on a whole submission."""

    PASS = "pass"
    FAIL = "fail"  # it ran and is wrong
    ERROR = "error"  # it raised, died, or broke the protocol
    LIMIT = "limit"  # time, memory or output
    SKIPPED = "skipped"  # checks and parts only: not run, often because an earlier check failed
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
    allowed: str | None  # "+-1e-7", the band around the expected value; None if it must be equal
    wrong: int  # number of entries outside the band
    total: int  # number of all entries


@dataclass(frozen=True, slots=True)
class Panel:
    """A small array as a reader sees it: one 2-D slice, already formatted."""

    title: str  # "x", "grad_x, yours", "grad_x, expected"
    rows: tuple[tuple[str, ...], ...]
    wrong: frozenset[tuple[int, int]] = frozenset()  # (row, column) of entries outside the band
    focus: frozenset[tuple[int, int]] = frozenset()  # the entry, row or window that matters
    note: str = ""  # of a slice: "entries [0, 2, :, :] of shape (2, 3, 5, 7)"


@dataclass(frozen=True, slots=True)
class Entries:
    """Every entry of a result as a number, in row-major order, to draw a picture from."""

    shape: tuple[int, ...]
    yours: tuple[float, ...]
    expected: tuple[float, ...]
    wrong: tuple[int, ...]  # positions in `yours` of the entries outside the band


@dataclass(frozen=True, slots=True)
class Grids:
    """Arrays to show side by side."""

    panels: tuple[Panel, ...]
    entries: Entries | None = None  # of the wrong result, if it is small


@dataclass(frozen=True, slots=True)
class BreakdownRow:
    """One row of a breakdown: a named number, yours and expected, and its fault."""

    name: str
    observed: str
    expected: str
    note: str = ""  # "missing", "half", "twice"; empty if right


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A table of named numbers, yours and expected; the texts contain the unit."""

    rows: tuple[BreakdownRow, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a comparison."""

    label: str  # "yours", "allowed", "reference", "plain autograd"
    value: float
    text: str  # the value as printed, with its unit


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar chart.

    `details` are lines below the bars, such as the tensors that the submission keeps.  For a peak
    of bytes, these are the tensors at the peak, and `course` has two series of bytes in use over
    time: the submission's and the reference's.
    """

    bars: tuple[Bar, ...]
    details: tuple[str, ...] = ()
    course: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Curve:
    """A series of numbers over steps, such as a loss: the submission's and the reference's."""

    yours: tuple[float, ...]
    expected: tuple[float, ...]


Exhibit = Grids | Breakdown | Bars | Curve


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of the submission's own code in a traceback."""

    line: int
    function: str
    source: str
    cell: int = 0  # of a notebook, from 1: `line` is counted in this cell; 0 in a plain file


UNREADABLE_TYPE = "Unreadable"  # `type` of the exception if a file of answers cannot be read


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
        """Return the type if Python defines it, else "an exception".

        The submission chose any other name, and could pass information with it.
        """
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

    number: int  # from 1, counted through the contracts of all parts
    text: str


NO_ANSWER_YET = "no answer yet"  # end of a check's message if answers are not written yet


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
    blocked_by: str | None = None  # id of the check because of which this one was skipped
    case_line: str = ""  # smallest failing case: "all ties: kernel 3, stride 3, x (1, 1, 3, 3)"
    about: str = ""  # that case in the question's words: "one entry that wins all four windows"
    inputs: Mapping[str, str] = field(default_factory=dict)  # as text: {"x": "(1, 1, 3, 3)"}
    call: str = ""  # the call on that case, if it is short: "gpus(7, 'bf16')"
    mismatch: Mismatch | None = None
    exhibit: Exhibit | None = None
    raised: ExceptionRecord | None = None
    figures: Mapping[str, float] = field(default_factory=dict)  # measured numbers by name
    effect: bool = False  # its values are right, but not the side effects of a call
    estimate: bool = False  # an estimate, or it needs one: the right number is not shown
    clauses: tuple[Clause, ...] = ()  # that the check enforces and the submission breaks
    points: int = 0  # earned points of its part
    of: int = 0  # maximum of `points`; 0 if the check has no points, or its part does not count

    @property
    def fails(self) -> bool:
        """Return True if the submission does not pass the check."""
        return self.verdict not in NON_FAILING_VERDICTS

    @property
    def is_unanswered(self) -> bool:
        """Return True if answers that the check needs are not written yet."""
        return self.message.endswith(NO_ANSWER_YET)


@dataclass(frozen=True, slots=True)
class PartResult:
    """Result of one part of a question."""

    id: str
    verdict: Verdict  # `skipped`: not asked, because an earlier part did not pass
    points: int  # earned: all on a pass, otherwise the sum of the points of its checks
    of: int  # maximum; 0: the part does not count in this grade


@dataclass(frozen=True, slots=True)
class IdeaMatch:
    """A known wrong idea that gives the same wrong results as the submission."""

    id: str
    feedback: str
    exact: bool  # certain: equal wherever the idea differs from the reference
    results: tuple[str, ...]  # names of the results on which they agree
    cases: int  # number of failing cases on which they agree
    failing: int = 0  # failing cases in all
    seen: tuple[str, ...] = ()  # names of the cases that `cases` counts
    checks: tuple[str, ...] = ()  # the failing checks that are there to catch this idea
    rounded: bool = False  # they agree after rounding, by a person or to float32, not exactly
    # Why the idea is not certain although it fits every failing case: "but so does even-split".
    doubt: str = ""


STATE: Literal["state"] = (
    "state"  # the program remembers earlier calls: its values prove nothing about ideas
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A sentence on why checks fail, in addition to the matching ideas or without any.

    `state`: earlier calls matter.  `pair`: two ideas at once.  `rule`: all wrong values follow
    it, such as "half the expected one".  `class`: on which cases a result is wrong.  `results`:
    which results are wrong, and which are always right.
    """

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
    message: str = ""  # why no check was tried, or which functions are missing
    raised: ExceptionRecord | None = None  # the exception behind `message`, if there is one
    printed: str = ""  # the tail of the submission's output
    sha256: str = ""  # of the submission's bytes
    follow_up: str = ""  # on a pass: one question to think about
    note: str = ""  # steps that were left out for lack of time
    bank: str = ""  # path of the bank that the question came from
    digest: str = ""  # of the question: its spec and all its programs
    program: str = ""  # version of drill
    unchanged: bool = False  # it has the code of the starter, or of the last version that passed
    outputs: str = ""  # digest of its wrong results; "" without wrong results
    unread: tuple[str, ...] = ()  # in a class: sentences on lines of answers that were skipped
    stopped: tuple[str, ...] = ()  # in a class: sentences on exceptions that loading survived
    format: int = REPORT_FORMAT

    @property
    def parts_passed(self) -> int:
        """Count the parts before the first one that does not pass: 1 for pass, fail, pass."""
        passing = [part.verdict is Verdict.PASS for part in self.parts]
        return [*passing, False].index(False)
