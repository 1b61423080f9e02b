"""A finding of a check on one case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.model.report import ExceptionRecord, Exhibit, Mismatch, Verdict


@dataclass(frozen=True, slots=True)
class CaseFinding:
    """A fault that a check found on one case, or a measurement without a fault."""

    sentence: str
    verdict: Verdict = Verdict.FAIL
    mismatch: Mismatch | None = None
    exhibit: Exhibit | None = None
    raised: ExceptionRecord | None = None
    wrong_result: str = ""  # "grad_x"; the cases on which it is wrong are counted
    figures: Mapping[str, float] = field(default_factory=dict)  # measured numbers by name
    effect: bool = False  # only a side effect of a call is wrong
    always_decides: bool = False  # with such a finding even a stretch check fails the submission

    @classmethod
    def for_pass(cls, sentence: str = "", **figures: float) -> CaseFinding:
        """Return a passing finding with measured figures: `for_pass("1.20x", ratio=1.2)`."""
        return cls(sentence, Verdict.PASS, figures=figures)
