"""Check `numbers`: a dict of named quantities, judged part by part.

A right total from wrong parts fails.  The breakdown shows which part is missing, halved or doubled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from grader.grading.kinds.base import CaseFinding, CaseTrial, Kind, api
from grader.model.number_format import (
    format_amount,
    format_band,
    format_distinct_amounts,
    format_number,
)
from grader.model.report import NO_ANSWER_YET, Breakdown, BreakdownRow, Mismatch
from grader.model.spec import Name, TolerantCheck, yaml_key

_RATIO_PHRASES = {
    0.25: "a quarter",
    0.5: "half",
    2.0: "twice",
    3.0: "three times",
    4.0: "four times",
    -1.0: "wrong sign",
}


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

    If the dict has the right keys, a failing check with points earns the share of right parts.
    """

    check_model = NumbersCheck
    judges_values = True
    hides_expected = True

    def judge(self, trial: CaseTrial[NumbersCheck]) -> CaseFinding | None:
        check = trial.check
        actual = trial.subject_result(check.of)
        expected = _reference_parts(trial)
        if not isinstance(actual, dict):
            return trial.failing_finding(
                f"{check.of} is {api.describe_value(actual)}, "
                f"expected a dict with {', '.join(check.parts)}"
            )
        missing = [part for part in check.parts if part not in actual]
        extra = [str(part) for part in actual if part not in check.parts]
        rows = [
            _row(check, part, actual[part], expected[part])
            for part in check.parts
            if part in actual
        ]
        if not missing and not extra:
            return _wrong_parts_finding(trial, rows, expected)
        if missing and not extra and trial.evaluation.question.spec.answers:
            verb = "has" if len(missing) == 1 else "have"
            return CaseFinding(
                f"{' and '.join(missing)} {verb} {NO_ANSWER_YET}", figures=_share(check, rows)
            )
        sentence = f"{check.of} is {api.describe_value(actual)}{api.format_dict_keys(actual)}"
        if missing:
            sentence += f"; missing: {', '.join(missing)}"
        if extra:
            sentence += f"; not asked for: {', '.join(extra)}"
        return trial.failing_finding(sentence)


def _wrong_parts_finding(
    trial: CaseTrial[NumbersCheck], rows: Sequence[BreakdownRow], expected: Mapping[str, float]
) -> CaseFinding | None:
    check = trial.check
    wrong = [row for row in rows if row.note]
    if not wrong:
        return None
    first = wrong[0]
    allowed = None
    if check.tolerance is not None:
        allowed = format_band(_tolerance(check, expected[first.name]))
    verb = "is" if len(wrong) == 1 else "are"
    return CaseFinding(
        f"{', '.join(row.name for row in wrong)} {verb} wrong in case {trial.case.name}",
        mismatch=Mismatch(
            result=f"{check.of}[{first.name!r}]",
            case=trial.case.name,
            index=None,
            observed=first.observed,
            expected=first.expected,
            allowed=allowed,
            wrong=len(wrong),
            total=len(rows),
        ),
        exhibit=Breakdown(tuple(rows)),
        figures=_share(check, rows),
    )


def _share(check: NumbersCheck, rows: Sequence[BreakdownRow]) -> dict[str, float]:
    right = sum(not row.note for row in rows)
    return {"share": right / len(check.parts)}


def _reference_parts(trial: CaseTrial[NumbersCheck]) -> dict[str, float]:
    """Return the reference's numbers.

    Raises:
        BankProgramError: the parts differ from the keys of the check, or a part is not a number.
    """
    check = trial.check
    expected = trial.reference_outcome.values[check.of]
    if not isinstance(expected, dict) or set(expected) != set(check.parts):
        actual = api.describe_value(expected) + api.format_dict_keys(expected)
        raise api.BankProgramError(
            f"{check.id}: expected the reference's {check.of} to be a dict with "
            f"{', '.join(check.parts)}, found {actual}"
        )
    for part, value in expected.items():
        if _to_number(value) is None:
            raise api.BankProgramError(
                f"{check.id}: expected a number for {part} of the reference's {check.of}, "
                f"found {api.describe_value(value)}"
            )
    return expected


def _row(check: NumbersCheck, part: str, actual: api.Value, expected: float) -> BreakdownRow:
    expected_text = _format(check, expected)
    number = _to_number(actual)
    if number is None:
        return BreakdownRow(part, api.describe_value(actual), expected_text, "not a number")
    if not math.isfinite(number):
        return BreakdownRow(part, format_number(number), expected_text, "not a number")
    if number == expected or abs(number - expected) <= _tolerance(check, expected):
        return BreakdownRow(part, _format(check, number), expected_text)
    actual_text = _format(check, number)
    if check.shown_in:
        actual_text, expected_text = format_distinct_amounts(number, expected, check.shown_in)
    return BreakdownRow(part, actual_text, expected_text, _note(float(number), float(expected)))


def _to_number(value: api.Value) -> float | None:
    """Convert a number of Python or numpy, or a 0-d array; return None for other values."""
    np = api.np
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim):
        value = value.item()
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _tolerance(check: NumbersCheck, expected: float) -> float:
    if check.tolerance is None:
        return 0.0
    return float(api.allowed_by_check(check.tolerance, api.np.asarray(float(expected))))


def _format(check: NumbersCheck, value: float) -> str:
    if check.shown_in:
        return format_amount(value, check.shown_in)
    return f"{format_number(value)} {check.unit}".strip()


def _note(actual: float, expected: float) -> str:
    """Say in a few words how a wrong part differs from the expected number.

    "should be 0"; "missing" if it is 0; "half" and the like for a simple ratio; "off by 12" within
    0.1 %; "1.500 times" for another ratio; "wrong" if that is above 1000 or below 0.001.
    """
    if expected == 0:
        return "should be 0"
    if actual == 0:
        return "missing"
    ratio = actual / expected
    for known_ratio, phrase in _RATIO_PHRASES.items():
        if math.isclose(ratio, known_ratio, rel_tol=1e-9):
            return phrase
    if math.isclose(ratio, 1.0, rel_tol=1e-3):
        return f"off by {format_number(actual - expected)}"
    return f"{format_number(ratio)} times" if 0.001 < abs(ratio) < 1000 else "wrong"
