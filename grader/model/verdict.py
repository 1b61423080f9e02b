"""The words a check, a report and an exit status are made of."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What became of a check or of a whole submission."""

    PASS = "pass"
    FAIL = "fail"  # it ran and is wrong
    ERROR = "error"  # it raised, died, or broke the protocol
    LIMIT = "limit"  # time, memory or output
    SKIPPED = "skipped"  # checks only: something it needs did not pass
    INCONCLUSIVE = "inconclusive"  # checks only: a measurement too noisy to decide; fails nobody
    INVALID = "invalid"  # the question bank is at fault
    INTERNAL = "internal"  # the grader is at fault


FINE = frozenset({Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.SKIPPED})  # what turns nobody down
