"""Check `numbers`: a dict of named quantities, judged part by part.

A right total from wrong parts fails, and the breakdown says which part is missing, halved or
doubled.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from grader.bench.bench import BankFault, Bench
from grader.bench.results import describe, dict_keys
from grader.bench.tally import Finding, tally
from grader.cases.recipe import CaseRecipe
from grader.model.numerals import amount, amounts_apart, number
from grader.model.report import Breakdown, CheckResult, Mismatch, Row
from grader.model.spec import NumbersCheck


def check_numbers(bench: Bench, check: NumbersCheck) -> CheckResult:
    """Compare every part exactly, on every case."""

    def judge(case: CaseRecipe) -> Finding | None:
        observed = bench.observed(check.run, case).values.get(check.of)
        expected = bench.truth(check.run, case).values[check.of]
        if not isinstance(expected, dict) or set(expected) != set(check.parts):
            wanted = ", ".join(check.parts)
            raise BankFault(f"{check.id}: the reference's {check.of} lacks or adds to {wanted}")
        if not isinstance(observed, dict):
            return Finding(
                f"{check.of} is {describe(observed)}, "
                f"expected a dict with {', '.join(check.parts)} (case {case.name})"
            )
        missing = [p for p in check.parts if p not in observed]
        extra = [str(p) for p in observed if p not in check.parts]
        if missing or extra:
            found = describe(observed) + dict_keys(observed)
            lacks = f"; missing: {', '.join(missing)}" if missing else ""
            more = f"; not asked for: {', '.join(extra)}" if extra else ""
            return Finding(f"{check.of} is {found}{lacks}{more} (case {case.name})")
        rows = [_row(check, part, observed[part], expected[part]) for part in check.parts]
        wrong = [(part, row) for part, row in zip(check.parts, rows, strict=True) if row.note]
        if not wrong:
            return None
        part, row = wrong[0]
        names = ", ".join(p for p, _ in wrong)
        return Finding(
            f"{names} {'is' if len(wrong) == 1 else 'are'} wrong in case {case.name}",
            mismatch=Mismatch(
                f"{check.of}[{part!r}]",
                case.name,
                None,
                row.observed,
                row.expected,
                None,
                len(wrong),
                len(rows),
            ),
            exhibit=Breakdown(tuple(rows)),
        )

    return tally(bench, check, judge)


def _row(check: NumbersCheck, part: str, observed: Any, expected: Any) -> Row:  # noqa: ANN401 any results
    plain = observed.item() if isinstance(observed, np.generic) else observed
    if isinstance(plain, np.ndarray) and plain.ndim == 0:
        plain = plain.item()
    if isinstance(plain, bool) or not isinstance(plain, (int, float)) or not math.isfinite(plain):
        found = number(plain) if isinstance(plain, float) else describe(observed)
        return Row(part, found, _text(check, expected), "not a number")
    if plain == expected:
        return Row(part, _text(check, plain), _text(check, expected))
    if check.shown_in:
        mine, theirs = amounts_apart(plain, expected, check.shown_in)
    else:
        mine, theirs = _text(check, plain), _text(check, expected)
    return Row(part, mine, theirs, _note(float(plain), float(expected)))


def _text(check: NumbersCheck, value: float) -> str:
    if check.shown_in:
        return amount(value, check.shown_in)
    return f"{number(value)} {check.unit}".strip()


def _note(observed: float, expected: float) -> str:
    """What a wrong part looks like, when it looks like something."""
    if expected == 0:
        return "should be 0"
    if observed == 0:
        return "missing"
    ratio = observed / expected
    words = {
        0.25: "a quarter",
        0.5: "half",
        2.0: "twice",
        3.0: "three times",
        4.0: "four times",
        -1.0: "wrong sign",
    }
    for known, word in words.items():
        if math.isclose(ratio, known, rel_tol=1e-9):
            return word
    if math.isclose(ratio, 1.0, rel_tol=1e-3):
        return f"off by {number(observed - expected)}"
    return f"{number(ratio)} times" if 0.001 < abs(ratio) < 1000 else "wrong"
