"""Compute numerical gradients of a result by Ridders' method.

Central differences at four step sizes are extrapolated to step zero.  How much the extrapolations
differ is an estimate of the error of each entry.  The judge asks the reference for these gradients,
because the forward of a submission may be wrong.

Source: Ridders, "Accurate computation of F'(x) and F'(x)F''(x)", Adv. Eng. Software 4(2), 1982;
Press et al., Numerical Recipes, section 5.7.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import steps as stepping
from .. import values
from ..protocol import Differentiate, Gradients
from ..steps import LoadedProgram
from ..wire import Array, without_tensors

LEVELS = 4  # step sizes
SHRINK = 2.0  # factor from one step size to the next
FIRST_STEP = 0.05  # in standard deviations of the input: best for pooling, conv, softmax, norm


def differentiate_numerically(program: LoadedProgram, request: Differentiate) -> Gradients:
    """Differentiate <cotangent, result> with respect to each entry of the inputs in `want`.

    The request has only steps that compute the result `of`.  The inputs in `want` are float64
    arrays, which are unchanged afterwards.  `cotangent` has the shape of the result, or is None for
    a scalar.  If the function has `kinks`, as a maximum has where two entries of the input are
    equal, each step is at most a quarter of the smallest gap between two entries, so no difference
    crosses a kink.

    Returns:
        For each input: `value`, the gradient, NaN for entries that are not finite; `error`, the
        estimated absolute error of each entry.
    """

    def evaluate() -> Array:
        names = stepping.build_inputs(request.inputs)
        stepping.perform_steps(program, request.steps, names)
        result = np.asarray(without_tensors(values.snapshot(names[request.of])), np.float64)
        return result if request.cotangent is None else result * request.cotangent

    gradients = {}
    for name in request.want:
        x = without_tensors(request.inputs[name].value)
        gradient = np.full(x.shape, np.nan)
        error = np.zeros(x.shape)
        is_finite = np.isfinite(x)
        step = _first_step(x[is_finite], kinks=request.kinks) if is_finite.any() else 0.0
        for index in np.ndindex(*x.shape):
            if is_finite[index]:
                gradient[index], error[index] = _ridders(evaluate, x, index, step)
        gradients[name] = {"value": gradient, "error": error}
    return Gradients(gradients)


def _first_step(entries: Array, *, kinks: bool) -> float:
    spread = float(entries.std()) or max(1.0, float(np.abs(entries).max()))
    step = FIRST_STEP * spread
    gaps = np.diff(np.sort(entries))  # np.unique would import numpy.ma, which takes 15 ms
    gaps = gaps[gaps > 0]
    if kinks and gaps.size:
        step = min(step, float(gaps.min()) / 4)
    return step


def _ridders(
    evaluate: Callable[[], Array], x: Array, index: tuple[int, ...], step: float
) -> tuple[float, float]:
    """Return the derivative with respect to the entry `x[index]`, and its estimated error."""
    best = np.nan
    min_error = np.inf
    previous_row: list[float] = []
    for level in range(LEVELS):
        row = [_central_difference(evaluate, x, index, step / SHRINK**level)]
        for order, previous in enumerate(previous_row):
            factor = SHRINK ** (2 * (order + 1))
            row.append((factor * row[order] - previous) / (factor - 1))
            error = max(abs(row[order + 1] - row[order]), abs(row[order + 1] - previous))
            if error <= min_error:
                best = row[order + 1]
                min_error = error
        previous_row = row
    return best, min_error


def _central_difference(
    evaluate: Callable[[], Array], x: Array, index: tuple[int, ...], step: float
) -> float:
    center = x[index]
    try:
        x[index] = center + step
        result_above = evaluate()
        above = float(x[index])
        x[index] = center - step
        result_below = evaluate()
        below = float(x[index])
    finally:
        x[index] = center
    # Equal infinities on both sides (a masked logit) do not change: the difference is 0, not NaN.
    difference = np.where(result_above == result_below, 0.0, result_above - result_below)
    # The sum of differences cancels less than the difference of two sums.
    return float(difference.sum()) / (above - below)
