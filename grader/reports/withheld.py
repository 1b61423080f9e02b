"""A report without what is expected of an estimate: what is right is found, not read.

Whatever shows a report passes it through `withheld` first, so that no page, document or exhibit
has the figures.
"""

from __future__ import annotations

import re
from dataclasses import replace

from grader.model.report import FINE, Breakdown, CheckResult, Report, Row

_FIGURE = re.compile(r"(the (number|text) )?[-+.\d]|NaN|infinity|True|False|None")
_DIFFERENCES = {"rule", "before"}  # explanations that say how far off a number is


def hides(check: CheckResult) -> bool:
    """Whether what is right is kept back."""
    return check.estimate


def withheld(report: Report) -> Report:
    """The report without it; the same report, if it is of no estimate."""
    wrong = {c.id for c in report.checks if c.verdict not in FINE and hides(c)}
    if not wrong:
        return report
    checks = tuple(_without(c) if c.id in wrong else c for c in report.checks)
    decides = any(c.id in wrong and not c.stretch for c in report.checks)
    kept = (e for e in report.explanations if not (decides and e.kind in _DIFFERENCES))
    return replace(report, checks=checks, explanations=tuple(kept))


def _without(check: CheckResult) -> CheckResult:
    worst, exhibit = check.mismatch, check.exhibit
    if worst is None or not worst.expected or not (worst.index or _FIGURE.match(worst.expected)):
        return check  # a type or a shape
    message = check.message
    if worst.expected in message:
        message = f"{worst.result} is wrong in case {worst.case}"
    # A list in the place of a number is not the figure's fault: its type is no secret.
    typed = worst.expected.startswith("the number ") and not _FIGURE.match(worst.observed)
    rows = tuple(map(_row, exhibit.rows)) if isinstance(exhibit, Breakdown) else ()
    return replace(
        check,
        message=message,
        mismatch=replace(worst, expected="a number" if typed else "", allowed=None),
        exhibit=Breakdown(rows) if rows else None,
        figures={},
    )


def _row(row: Row) -> Row:
    """What is right is known already, what is wrong is only said to be."""
    if row.note:
        return replace(row, expected="", note="wrong")
    return replace(row, expected=row.observed)  # within what is allowed
