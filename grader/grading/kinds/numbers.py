"""Check `numbers`: a dict of named quantities, judged part by part.

A right total from wrong parts fails, and the breakdown says which part is missing, halved or
doubled.
"""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from grader.grading.kinds.base import CaseTrial, Kind, api
from grader.model.number_format import (
    format_amount,
    format_band,
    format_distinct_amounts,
    format_number,
)
from grader.model.report import Breakdown, BreakdownRow, Mismatch
from grader.model.spec import Name, TolerantCheck, yaml_key

_RATIOS = {
    0.25: "a quarter", 0.5: "half", 2.0: "twice", 3.0: "three times", 4.0: "four times",
    -1.0: "wrong sign",
}  # fmt: skip


class NumbersCheck(TolerantCheck):
    """A dict of named numbers."""

    only_runs: ClassVar[bool] = True
    kind: Literal["numbers"]
    of: Name = yaml_key("The result, a dict.")
    parts: list[str] = yaml_key("Its keys: exactly these.")
    unit: str = yaml_key("Of all of them, in words.", "")
    shown_in: Literal["", "KB", "MB", "GB", "KiB", "MiB", "GiB"] = yaml_key(
        "A larger unit for reports; values are compared as they are.", ""
    )

    def missing_configuration(self) -> str:
        return "" if self.parts else "the names of parts"


class NumbersKind(Kind[NumbersCheck]):
    """Compare every part, exactly unless the check has a tolerance, on every case.

    A check with points that fails earns the share of its parts that are right.
    """

    keys = NumbersCheck
    judges_values = True
    hides_expected = True

    def judge(self, trial: CaseTrial[NumbersCheck]) -> api.CaseFinding | None:
        check, case = trial.check, trial.case
        observed, expected = (
            trial.submission_result(check.of),
            trial.reference_outcome.values[check.of],
        )
        parts = ", ".join(check.parts)
        if not isinstance(expected, dict) or set(expected) != set(check.parts):
            wanted = f"expected the reference's {check.of} to be a dict with {parts}"
            found = api.describe_value(expected) + api.format_dict_keys(expected)
            keys = expected if isinstance(expected, dict) else ()
            wrong_first = sorted(keys, key=check.parts.__contains__)
            place = trial.evaluation.question.place_of_keys(wrong_first)
            raise api.BankProgramError(f"{check.id}: {wanted}, found {found}{place}")
        for part, right in expected.items():
            if _plain(right) is None:
                wanted = f"expected a number for {part} of the reference's {check.of}"
                raise api.BankProgramError(
                    f"{check.id}: {wanted}, found {api.describe_value(right)}"
                )
        if not isinstance(observed, dict):
            return trial.failing_finding(
                f"{check.of} is {api.describe_value(observed)}, expected a dict with {parts}"
            )
        missing = [p for p in check.parts if p not in observed]
        rows = [_row(check, p, observed[p], expected[p]) for p in check.parts if p in observed]
        wrong = [row for row in rows if row.note]
        share = {"share": (len(rows) - len(wrong)) / len(check.parts)}
        extra = [str(p) for p in observed if p not in check.parts]
        if missing and not extra and trial.evaluation.question.spec.answers:
            have = "has" if len(missing) == 1 else "have"
            return api.CaseFinding(f"{' and '.join(missing)} {have} no answer yet", figures=share)
        if missing or extra:
            found = api.describe_value(observed) + api.format_dict_keys(observed)
            lacks = f"; missing: {', '.join(missing)}" if missing else ""
            more = f"; not asked for: {', '.join(extra)}" if extra else ""
            return trial.failing_finding(f"{check.of} is {found}{lacks}{more}")
        if not wrong:
            return None
        first, allowed = wrong[0], None
        if check.tolerance is not None:
            allowed = format_band(_tolerated(check, expected[first.name]))
        return api.CaseFinding(
            f"{', '.join(row.name for row in wrong)} {'is' if len(wrong) == 1 else 'are'} wrong "
            f"in case {case.name}",
            mismatch=Mismatch(
                f"{check.of}[{first.name!r}]", case.name, None, first.observed, first.expected,
                allowed, len(wrong), len(rows),
            ),
            exhibit=Breakdown(tuple(rows)),
            figures=share,
        )  # fmt: skip


def _row(check: NumbersCheck, part: str, observed: api.Value, expected: api.Value) -> BreakdownRow:
    plain = _plain(observed)
    if plain is None or not math.isfinite(plain):
        odd = api.describe_value(observed) if plain is None else format_number(plain)
        return BreakdownRow(part, odd, _text(check, expected), "not a number")
    if plain == expected or abs(plain - expected) <= _tolerated(check, expected):
        return BreakdownRow(part, _text(check, plain), _text(check, expected))
    if check.shown_in:
        found, wanted = format_distinct_amounts(plain, expected, check.shown_in)
    else:
        found, wanted = _text(check, plain), _text(check, expected)
    return BreakdownRow(part, found, wanted, _note(float(plain), float(expected)))


def _plain(value: api.Value) -> float | None:
    """A number, also of numpy's or an array without axes, as Python has it; None for all else."""
    if isinstance(value, api.np.generic) or (isinstance(value, api.np.ndarray) and not value.ndim):
        value = value.item()
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _tolerated(check: NumbersCheck, expected: float) -> float:
    """What a part may be off by."""
    if check.tolerance is None:
        return 0.0
    return float(api.allowed_by_check(check.tolerance, api.np.asarray(float(expected))))


def _text(check: NumbersCheck, value: float) -> str:
    if check.shown_in:
        return format_amount(value, check.shown_in)
    return f"{format_number(value)} {check.unit}".strip()


def _note(observed: float, expected: float) -> str:
    """What a wrong part looks like, when it looks like something."""
    if expected == 0:
        return "should be 0"
    if observed == 0:
        return "missing"
    ratio = observed / expected
    for known, word in _RATIOS.items():
        if math.isclose(ratio, known, rel_tol=1e-9):
            return word
    if math.isclose(ratio, 1.0, rel_tol=1e-3):
        return f"off by {format_number(observed - expected)}"
    return f"{format_number(ratio)} times" if 0.001 < abs(ratio) < 1000 else "wrong"
