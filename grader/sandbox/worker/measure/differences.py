"""Numerical gradients of a run's result by Ridders' method.

Central differences at four step sizes, extrapolated to step zero; the tableau also says how far to
trust each entry.  Run on the reference, so that a gradient is never held against the forward it
came with.

Source: Ridders, "Accurate computation of F'(x) and F'(x)F''(x)", Adv. Eng. Software 4(2), 1982;
Press et al., Numerical Recipes, section 5.7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import steps as stepping
from .. import values
from ..protocol import Differentiate, Gradients
from ..steps import LoadedModule
from ..wire import Array, Tensor

LEVELS = 4
SHRINK = 2.0
FIRST_STEP = 0.05  # of the input's deviation: measured best over pooling, conv, softmax, norm


def differentiate_numerically(program: LoadedModule, asked: Differentiate) -> Gradients:
    """Differentiate <cotangent, result> with respect to each entry of the named inputs.

    `steps` are those that produce the result `of`, and no others; inputs that are wanted hold
    float64 arrays, left as they are; `cotangent` is shaped like the result, or None for a scalar;
    `kinks` says that the function is piecewise smooth: then every step stays below a quarter of the
    smallest gap between two values of the input, so that no difference crosses a kink.

    Returns:
        By input: `value`, shaped like the input, NaN where an entry is not finite; `error`, the
        estimated absolute error of each entry.
    """

    def evaluate() -> Array:
        names = stepping.build_inputs(asked.inputs)
        stepping.perform_steps(program, asked.steps, names)
        out = np.asarray(_array(values.snapshot(names[asked.of])), np.float64)
        return out if asked.cotangent is None else out * asked.cotangent

    found = {}
    for name in asked.want:
        x = _array(asked.inputs[name].value)
        value, error = np.full(x.shape, np.nan), np.zeros(x.shape)
        finite = np.isfinite(x)
        first = _first_step(x[finite], kinks=asked.kinks) if finite.any() else 0.0
        for index in np.ndindex(*x.shape):
            if finite[index]:
                value[index], error[index] = _ridders(evaluate, x, index, first)
        found[name] = {"value": value, "error": error}
    return Gradients(found)


def _array(value: Any) -> Any:  # noqa: ANN401 an array, a number, or a tensor as data
    return value.values if isinstance(value, Tensor) else value


def _first_step(finite: Array, *, kinks: bool) -> float:
    spread = float(finite.std()) or max(1.0, float(np.abs(finite).max()))
    apart = np.diff(np.sort(finite))  # not np.unique, which imports numpy.ma, 15 ms
    apart = apart[apart > 0]
    gap = float(apart.min()) / 4 if kinks and apart.size else np.inf
    return min(FIRST_STEP * spread, gap)


def _ridders(
    evaluate: Callable[[], Array], x: Array, index: tuple[int, ...], step: float
) -> tuple[float, float]:
    best, least = np.nan, np.inf
    previous: list[float] = []
    for level in range(LEVELS):
        row = [_central(evaluate, x, index, step / SHRINK**level)]
        for j, older in enumerate(previous):
            factor = SHRINK ** (2 * (j + 1))
            row.append((factor * row[j] - older) / (factor - 1))
            error = max(abs(row[j + 1] - row[j]), abs(row[j + 1] - older))
            if error <= least:
                best, least = row[j + 1], error
        previous = row
    return best, least


def _central(evaluate: Callable[[], Array], x: Array, index: tuple[int, ...], step: float) -> float:
    centre = x[index]
    try:
        x[index] = centre + step
        up, above = evaluate(), float(x[index])
        x[index] = centre - step
        down, below = evaluate(), float(x[index])
    finally:
        x[index] = centre
    # Equal infinities on both sides (a masked logit) do not move: their difference is 0, not NaN.
    difference = np.where(up == down, 0.0, up - down)
    # Difference first, then sum: less cancellation than the difference of two sums.
    return float(difference.sum()) / (above - below)
