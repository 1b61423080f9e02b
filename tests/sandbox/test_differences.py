"""Numerical gradients against closed forms: smooth, with kinks, with entries at minus infinity."""

from __future__ import annotations

import types
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.cases.step_syntax import parse_step
from grader.sandbox.messages import to_wire_steps
from grader.sandbox.worker.measure import differences
from grader.sandbox.worker.protocol import Differentiate, WireInput
from grader.sandbox.worker.steps import LoadedProgram, StepFailed

Function = Callable[[Any], Any]


def slopes(
    function: Function, x: Any, cotangent: Any = None, *, kinks: bool = False
) -> tuple[Any, Any]:
    """Return the numerical gradient of a function at x, and the error it claims."""
    module = types.ModuleType("reference")
    module.__dict__["f"] = function
    lent = np.array(x, np.float64)
    before = lent.copy()
    steps, inputs = to_wire_steps([parse_step("y = f(x)")]), {"x": WireInput(lent)}
    asked = Differentiate("", steps, inputs, ("x",), of="y", cotangent=cotangent, kinks=kinks)
    program = LoadedProgram(module, None, "reference.py")
    try:
        found = differences.differentiate_numerically(program, asked).gradients["x"]
    finally:
        assert np.array_equal(lent, before, equal_nan=True), "x is put back"
    assert found["value"].shape == found["error"].shape == before.shape
    return found["value"], found["error"]


def softmax(x: Any) -> Any:
    """Return the softmax over the last axis."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 3))
G = RNG.standard_normal((2, 3))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x, np.ones((2, 3))),
        (lambda x: x * 0 + 7, np.zeros((2, 3))),
        (lambda x: x**3, 3 * X**2),
        (np.sin, np.cos(X)),
        (np.exp, np.exp(X)),
        (np.tanh, 1 - np.tanh(X) ** 2),
        (lambda x: 1 / (2 + x * x), -2 * X / (2 + X * X) ** 2),
        (lambda x: (x**2).sum(-1, keepdims=True) * np.ones(3), 2 * X * 3),
    ],
)
def test_smooth_functions_agree_with_their_derivative(function: Function, expected: Any) -> None:
    found, error = slopes(function, X)
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-10)
    assert (error <= 1e-6).all()


def test_a_cotangent_weighs_the_results() -> None:
    p = softmax(X)
    expected = p * (G - (G * p).sum(-1, keepdims=True))
    found, _ = slopes(softmax, X, G)
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-11)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 999), st.sampled_from([1e-6, 1e-3, 1.0, 1e3, 1e8]))
def test_the_steps_follow_the_scale_of_the_input(seed: int, scale: float) -> None:
    x = np.random.default_rng(seed).standard_normal(4) * scale
    found, _ = slopes(lambda x: np.sin(x / scale), x)
    assert np.allclose(found * scale, np.cos(x / scale), rtol=1e-7, atol=1e-8)


def test_constant_and_empty_and_single_inputs() -> None:
    for x in (np.zeros(3), np.full(3, 5.0), np.array(2.0), np.zeros((0, 4))):
        found, _ = slopes(lambda x: x**2, x)
        assert np.allclose(found, 2 * x, atol=1e-8)


@pytest.mark.parametrize("gap", [1.0, 0.25, 1e-4])
def test_with_kinks_a_maximum_has_the_slope_of_its_winner(gap: float) -> None:
    x = RNG.permutation(12).astype(float) * gap
    found, _ = slopes(lambda x: np.maximum(x[:6], x[6:]), x, kinks=True)
    first = x[:6] > x[6:]
    assert np.allclose(found, np.concatenate([first, ~first]), atol=1e-6)


def test_without_kinks_a_step_may_cross_one() -> None:
    x = np.array([0.0, 1e-3, 5.0, -5.0])
    crossed, _ = slopes(lambda x: x.max() + x[:2].max(), x)
    kept, _ = slopes(lambda x: x.max() + x[:2].max(), x, kinks=True)
    assert np.allclose(kept, [0, 1, 1, 0], atol=1e-8)
    assert not np.allclose(crossed, [0, 1, 1, 0], atol=1e-2)


def test_entries_at_minus_infinity_have_no_gradient_and_do_not_change_others() -> None:
    x = np.array([[0.5, -np.inf, 1.0], [2.0, -1.0, -np.inf]])
    g = np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0]])
    with np.errstate(invalid="ignore"):
        found, _ = slopes(softmax, x, g)
    p = softmax(x)
    expected = p * (g - (g * p).sum(-1, keepdims=True))
    known = np.isfinite(x)
    assert np.isnan(found[~known]).all()
    assert np.allclose(found[known], expected[known], rtol=1e-8, atol=1e-10)


def test_equal_infinities_in_a_result_do_not_change_the_gradient() -> None:
    def masked(x: Any) -> Any:
        return np.concatenate([x, [-np.inf, np.inf]])

    with np.errstate(invalid="ignore"):  # as in a worker
        found, _ = slopes(masked, X[0])
    assert np.allclose(found, 1)


def test_the_claimed_error_grows_where_the_function_is_rough() -> None:
    _, smooth = slopes(np.sin, X)
    _, rough = slopes(lambda x: np.sin(40 * x), X)
    assert rough.max() > 1e3 * smooth.max()


def test_x_is_restored_if_the_function_raises() -> None:
    calls = count()

    def failing(x: Any) -> Any:
        if next(calls) == 3:
            raise ValueError
        return x

    with pytest.raises(StepFailed) as stopped:
        slopes(failing, np.arange(3.0))
    assert isinstance(stopped.value.error, ValueError)
