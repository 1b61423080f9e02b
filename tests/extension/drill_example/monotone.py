"""Check `monotone`: a result never falls along its last axis."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from grader.api import Case, Check, Evaluation, Field, Finding, Kind, Name, array_of, describe


class MonotoneCheck(Check):
    """A result never falls along its last axis."""

    kind: Literal["monotone"]
    of: Name = Field(description="The result.")
    slack: float = Field(default=0.0, description="How far it may fall all the same.")


class Monotone(Kind[MonotoneCheck]):
    """Look at the steps from each entry to the next."""

    keys = MonotoneCheck

    def judge(self, evaluation: Evaluation, check: MonotoneCheck, case: Case) -> Finding | None:
        """The first fall."""
        value = evaluation.observed(check.run, case).values[check.of]
        array = array_of(value)
        if array.ndim == 0 or array.dtype.kind not in "fiu":
            return Finding(f"{check.of} is {describe(value)}, expected an array of numbers")
        falls = self.observe(evaluation, check, case)
        if not falls.any():
            return None
        where = [int(i) for i in np.argwhere(falls)[0]]
        return Finding(f"{check.of} falls behind entry {where} (case {case.name})")

    def observe(
        self, evaluation: Evaluation, check: MonotoneCheck, case: Case
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Where it falls: the same idea in other units falls at the same places."""
        array = array_of(evaluation.observed(check.run, case).values[check.of])
        rises = np.diff(array, axis=-1) >= -check.slack  # NaN is no step upwards either
        return np.asarray(~rises)

    def has_tolerance(self, check: MonotoneCheck) -> bool:
        """Where a fall is allowed at all."""
        return check.slack > 0

    def deviation(self, evaluation: Evaluation, check: MonotoneCheck, case: Case) -> float:
        """The deepest fall over what is allowed."""
        steps = np.diff(array_of(evaluation.observed(check.run, case).values[check.of]), axis=-1)
        deepest = float(np.max(-steps, initial=0.0))
        return deepest / check.slack if math.isfinite(deepest) else math.inf
