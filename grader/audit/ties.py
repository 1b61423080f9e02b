"""Do ties decide a result, so that the text has to say what happens at them?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.bench.bench import Bench, array_of
from grader.cases.dataflow import free_names
from grader.cases.recipe import CaseRecipe
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import ProgramError

NUDGE = 1e-7  # of the largest entry: breaks ties, and moves nothing else by much
JUMP = 1e-3  # of the largest result: what no slope makes of a nudge


def decided_by_ties(bench: Bench, run: str, case: CaseRecipe) -> str | None:
    """A result that depends on which of several equal entries is taken for the larger.

    Equal entries are moved apart by next to nothing, this way and that; a result that then jumps
    was decided by them.  Where it jumps too when equal entries move alike they are codes (a class,
    a mask) rather than quantities, and no tie.
    """
    if case.dtype == "bfloat16":
        return None
    tied = [n for n in free_names(bench.steps(run)) if _has_ties(bench.drawn(case)[n], case, n)]
    if not tied:
        return None
    try:
        one, other, alike, plain = (
            _moved(bench, run, case, tied, how) for how in ("one", "other", "alike", "not at all")
        )
    except (ProgramError, WorkerError):
        return None
    return next((n for n in one if _jump(one[n], other[n]) and not _jump(alike[n], plain[n])), None)


def _moved(
    bench: Bench, run: str, case: CaseRecipe, names: list[str], how: str
) -> Mapping[str, Any]:
    """What the reference gives when some inputs are moved by next to nothing."""
    inputs = dict(bench.inputs(case, run))
    for name in names:
        value = np.asarray(inputs[name]["value"], np.float64)
        size = float(np.abs(value[np.isfinite(value)]).max(initial=0.0)) or 1.0
        match how:
            case "alike":  # 0 stays: at 0 a function may have a kink
                step = np.where(value == 0, 0.0, 1.0)
            case "not at all":
                step = np.zeros(value.shape)
            case _:
                step = np.random.default_rng(len(how)).uniform(-1, 1, value.shape)
        apart = np.where(np.isfinite(value), value + step * size * NUDGE, value)
        moved = apart.astype(inputs[name]["value"].dtype)
        inputs[name] = {**inputs[name], "value": moved}
    return bench.reference.run(bench.steps(run), inputs, bench.wanted[run]).values


def _jump(one: Any, other: Any) -> bool:  # noqa: ANN401 any results
    """Whether two results differ by far more than what was moved."""
    if not is_array(one) or not is_array(other):
        return False
    a, b = array_of(one), array_of(other)
    if a.shape != b.shape or a.dtype.kind != "f":
        return False
    both = np.isfinite(a) & np.isfinite(b)
    largest = float(np.abs(a[both]).max(initial=0.0))
    return bool(float(np.abs(a - b)[both].max(initial=0.0)) > JUMP * largest)


def _has_ties(value: Any, case: CaseRecipe, name: str) -> bool:  # noqa: ANN401 any input
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or value.size < 1:
        return False
    recipe = case.inputs[name]
    if recipe.dtype is not None and not recipe.dtype.startswith("float"):
        return False
    flat = value[np.isfinite(value)]
    # At 0 a function may have a kink of its own: a single 0 is a tie with it.
    return bool(np.unique(flat).size < flat.size or (flat == 0).any())


def is_array(value: object) -> bool:
    """Whether a result is an array, a tensor or a real number."""
    return isinstance(getattr(value, "values", value), (np.ndarray, float))
