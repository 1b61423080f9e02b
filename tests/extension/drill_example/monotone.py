"""Check `monotone`: a result never falls along its last axis."""

from __future__ import annotations

from typing import Literal

import numpy as np

from grader.bench.bench import Bench, array_of
from grader.bench.results import describe
from grader.bench.tally import Finding, tally
from grader.cases.recipe import CaseRecipe
from grader.model.extension import Kind
from grader.model.report import CheckResult
from grader.model.spec import Check, Name


class MonotoneCheck(Check):
    """The keys: `of: NAME`, `strictly: true`."""

    kind: Literal["monotone"]
    of: Name
    strictly: bool = False


def check_monotone(bench: Bench, check: MonotoneCheck) -> CheckResult:
    """Look at the result in every case of the check."""

    def judge(case: CaseRecipe) -> Finding | None:
        value = bench.observed(check.run, case).values[check.of]
        array = array_of(value)
        if array.ndim == 0 or array.dtype.kind not in "fiu":
            return Finding(f"{check.of} is {describe(value)}, expected an array of numbers")
        steps = np.diff(array, axis=-1)
        good = steps > 0 if check.strictly else steps >= 0
        if good.all():  # NaN is no step upwards either
            return None
        place = [int(i) for i in np.argwhere(~good)[0]]
        word = "does not rise" if check.strictly else "falls"
        return Finding(f"{check.of} {word} behind entry {place} (case {case.name})")

    return tally(bench, check, judge)


KIND = Kind(MonotoneCheck, check_monotone)
