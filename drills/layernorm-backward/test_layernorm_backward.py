"""The reference and every right solution of layernorm-backward, against torch and closed forms.

Torch's float64 autograd is the oracle on ordinary rows. Far from 0, where torch rounds as well,
exact fractions stand in.
"""

from __future__ import annotations

import inspect
import math
from fractions import Fraction
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from tests.harness import Array, Program, assert_close, by_autograd, each, variants

variant = variants(__file__)
SHAPES = [(1, 4), (4, 5), (3, 7), (2, 3, 5), (2, 2, 3, 6)]
CLOSE = {"float64": 1e-11, "float32": 2e-5}


def draw(shape: tuple[int, ...], dtype: str = "float64") -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng(list(shape))
    width = shape[-1]
    x, gamma, beta = rng.standard_normal(shape), rng.uniform(0.5, 2.0, width), rng.random(width)
    grad_y = rng.standard_normal(shape)
    return x.astype(dtype), gamma.astype(dtype), beta.astype(dtype), grad_y.astype(dtype)


def both(program: Program, x: Array, gamma: Array, beta: Array, dy: Array, eps: float) -> list[Any]:
    """Return what the four functions compute: y and three gradients, y and two gradients."""
    y, ctx = program.layernorm(x, gamma, beta, eps)
    y_rms, ctx_rms = program.rmsnorm(x, gamma, eps=eps)
    return [
        y,
        *program.layernorm_backward(dy, ctx),
        y_rms,
        *program.rmsnorm_backward(dy, ctx_rms),
    ]


def oracle(x: Array, gamma: Array, beta: Array, dy: Array, eps: float) -> list[Array]:
    width = (x.shape[-1],)
    return [
        *by_autograd(lambda a, g, b: F.layer_norm(a, width, g, b, eps), x, gamma, beta, grad_y=dy),
        *by_autograd(lambda a, g: F.rms_norm(a, width, g, eps), x, gamma, grad_y=dy),
    ]


def agree(found: list[Any], wanted: list[Array], dtype: str = "float64") -> None:
    assert_close(found, wanted, CLOSE, dtype)


@each("shape", SHAPES)
@each(
    ("eps", "dtype"), [(1e-30, "float64"), (1e-5, "float64"), (0.3, "float64"), (1e-5, "float32")]
)
def test_all_results_are_those_of_torch(
    program: Program, shape: tuple[int, ...], eps: float, dtype: str
) -> None:
    inputs = draw(shape, dtype)
    inputs[1][1] = 0  # of gamma, and gets a gradient as any other
    agree(both(program, *inputs, eps), oracle(*inputs, eps), dtype)


def test_eps_is_that_of_torchs_layer_norm_where_none_is_given(program: Program) -> None:
    default = inspect.signature(F.layer_norm).parameters["eps"].default
    assert default == 1e-5
    x, gamma, beta, _ = draw((4, 5))
    x = x * 1e-3
    for norm, given in ((program.layernorm, (x, gamma, beta)), (program.rmsnorm, (x, gamma))):
        np.testing.assert_array_equal(norm(*given)[0], norm(*given, default)[0])


def test_a_row_of_equal_entries_gives_beta_and_the_gradients_of_torch(program: Program) -> None:
    x = np.array([[3.0] * 5, [0.0] * 5, [1.0, -2.0, 4.0, 0.0, 3.0]])
    _, gamma, beta, dy = draw((3, 5))
    found = both(program, x, gamma, beta, dy, 1e-5)
    np.testing.assert_allclose(found[0][:2], [beta, beta], rtol=0, atol=1e-11)
    agree(found, oracle(x, gamma, beta, dy, 1e-5))


def exact_forward(x: Array, gamma: Array, beta: Array, eps: float) -> Array:
    """LayerNorm with exact mean and variance of each row."""
    rows = []
    for row in x.tolist():
        values = [Fraction(v) for v in row]
        mean = sum(values, Fraction(0)) / len(values)
        var = sum(((v - mean) ** 2 for v in values), Fraction(0)) / len(values)
        rows.append([float(v - mean) / math.sqrt(float(var) + eps) for v in values])
    return np.array(rows) * gamma.astype(np.float64) + beta.astype(np.float64)


@each(("dtype", "offset", "band"), [("float64", 1e6, 2e-9), ("float32", 1e3, 1e-3)])
def test_rows_far_from_0_keep_their_digits(
    program: Program, dtype: str, offset: float, band: float
) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = (rng.standard_normal((3, 7)) + offset).astype(dtype)
        _, gamma, beta, _ = draw((3, 7), dtype)
        y = program.layernorm(x, gamma, beta, 1e-5)[0]
        assert float(np.abs(y - exact_forward(x, gamma, beta, 1e-5)).max()) < band


def test_the_starter_has_three_right_results_of_four(starter: Program) -> None:
    """What the colleague compared: forward, gamma and beta, on ordinary rows."""
    for shape in SHAPES:
        x, gamma, beta, dy = draw(shape)
        y, ctx = starter.layernorm(x, gamma, beta)
        grad_x, grad_gamma, grad_beta = starter.layernorm_backward(dy, ctx)
        right = oracle(x, gamma, beta, dy, 1e-5)
        agree([y, grad_gamma, grad_beta], [right[0], right[2], right[3]])
        assert np.abs(grad_x - right[1]).max() > 0.1 * np.abs(right[1]).max()


def gradient_of_x(program: Program, eps: float, shape: tuple[int, ...] = (4, 5)) -> Array:
    x, gamma, beta, dy = draw(shape)
    found: Array = program.layernorm_backward(dy, program.layernorm(x, gamma, beta, eps)[1])[0]
    return found


def test_the_letters_are_true(reference: Program, starter: Program) -> None:
    x, gamma, beta, dy = draw((4, 5))
    assert reference.WHY == {"no-reference": "b", "not-enough": "c", "rms": "a"}
    for eps in (0.0, 0.3):
        right, old = gradient_of_x(reference, eps), gradient_of_x(starter, eps)
        np.testing.assert_allclose(right.sum(-1), 0, atol=1e-14)
        assert np.abs(old.sum(-1)).min() > 0.1
        # d holds for the old file, c for neither; a does not hold where eps is not 0.
        assert np.abs((right * x).sum(-1)).max() < 1e-13 or eps > 0
        lengths = np.linalg.norm(dy, axis=-1)
        assert np.abs(np.linalg.norm(right, axis=-1) - lengths).min() > 1e-3
    assert np.abs((right * x).sum(-1)).min() > 1e-3
    sparse = np.where(np.arange(5) == 2, dy, 0.0)
    ctx, old_ctx = (p.layernorm(x, gamma, beta, 0.3)[1] for p in (reference, starter))
    assert not starter.layernorm_backward(sparse, old_ctx)[0][sparse == 0].any()
    assert reference.layernorm_backward(sparse, ctx)[0].all()
    # Of the wrong gradients only the one that treats the deviation as a constant passes the test.
    np.testing.assert_allclose(gradient_of_x(variant("mean-path-only"), 0.3).sum(-1), 0, atol=1e-14)
    for name in ("variance-path-only", "gamma-outside", "sums-for-means"):
        assert np.abs(gradient_of_x(variant(name), 0.3).sum(-1)).max() > 0.1
    # RMSNorm.
    grad_x = reference.rmsnorm_backward(dy, reference.rmsnorm(x, gamma, 0.0)[1])[0]
    np.testing.assert_allclose((grad_x * x).sum(-1), 0, atol=1e-13)
    assert np.abs(grad_x.sum(-1)).min() > 1e-3
    assert np.abs(grad_x.sum(-1) - (dy * gamma).sum(-1)).min() > 1e-3
    assert np.abs(grad_x - gradient_of_x(reference, 0.0)).max() > 0.1


def test_grad_x_is_at_right_angles_to_the_normalized_row_but_for_eps(reference: Program) -> None:
    x, gamma, beta, dy = draw((4, 5))
    for eps in (0.0, 0.3):
        xhat, r, _ = reference.layernorm(x, gamma, beta, eps)[1]
        var = x.var(axis=-1, keepdims=True)
        along = (dy * gamma * xhat).mean(axis=-1, keepdims=True)
        wanted = r * 5 * along * eps / (var + eps)
        found = (gradient_of_x(reference, eps) * xhat).sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(found, wanted, atol=1e-13)


def test_the_right_gradient_never_points_against_the_old_one(
    reference: Program, starter: Program
) -> None:
    for eps in (0.0, 0.3, 10.0):
        product = gradient_of_x(reference, eps, (50, 5)) * gradient_of_x(starter, eps, (50, 5))
        assert product.sum(axis=-1).min() >= -1e-13


def test_the_old_gradient_is_worse_the_further_a_layer_is_from_the_loss(
    reference: Program, starter: Program
) -> None:
    """A chain of 12 tanh layers of width 16: cosines after 1, 4 and 12 of them, over 10 draws."""
    cosines = np.array([_cosines(reference, starter, seed) for seed in range(10)]).mean(axis=0)
    np.testing.assert_allclose(cosines[[0, 3, 11]], [0.96, 0.88, 0.70], atol=0.005)
    assert (np.diff(cosines[:11]) < 0).all()


def _cosines(reference: Program, starter: Program, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    weights = [rng.standard_normal((16, 16)) / 4 for _ in range(12)]
    gammas = [rng.uniform(0.5, 2, 16) for _ in weights]
    x, kept = rng.standard_normal((32, 16)), []
    for w, gamma in zip(weights, gammas, strict=True):
        y, ctx = reference.layernorm(x, gamma, np.zeros(16))
        old = starter.layernorm(x, gamma, np.zeros(16))[1]
        x = np.tanh(y @ w)
        kept.append((w, x, ctx, old))
    right = rng.standard_normal((32, 16))
    wrong, found = right.copy(), []
    for w, h, ctx, old in reversed(kept):
        right = reference.layernorm_backward((right * (1 - h * h)) @ w.T, ctx)[0]
        wrong = starter.layernorm_backward((wrong * (1 - h * h)) @ w.T, old)[0]
        product = float((right * wrong).sum())
        found.append(product / float(np.linalg.norm(right) * np.linalg.norm(wrong)))
    return found


def test_the_numbers_in_the_feedback_are_right(reference: Program) -> None:
    # eps outside the root: divisors for a deviation of 1e-3.
    inside, outside = math.sqrt(1e-3**2 + 1e-5), 1e-3 + 1e-5
    assert (f"{inside:.1e}", f"{outside:.1e}") == ("3.3e-03", "1.0e-03")
    # Library defaults.
    x = torch.tensor([[1.0, -2.0, 4.0]], dtype=torch.float64) * 1e-6
    tiny = torch.finfo(torch.float64).eps
    assert torch.equal(F.rms_norm(x, (3,)), F.rms_norm(x, (3,), eps=tiny))
    assert torch.equal(torch.var(x), torch.var(x, correction=1))
    # The wrong sign doubles the part along the normalized row.
    rows, gamma, _, _ = draw((4, 5))
    xhat = reference.layernorm(rows, gamma, gamma, 0.0)[1][0]
    added, plain = (
        (gradient_of_x(variant(name), 0.0) * xhat).sum(-1)
        for name in ("variance-path-sign", "statistics-constant")
    )
    np.testing.assert_allclose(added, 2 * plain)
    # The norm is sqrt(D) times the root mean square.
    y, small = (p.rmsnorm(rows, gamma, 0.0)[0] for p in (reference, variant("rms-norm-not-mean")))
    np.testing.assert_allclose(small * math.sqrt(5), y)


def test_a_difference_of_large_numbers_loses_six_digits_in_float32() -> None:
    worst = []
    for seed in range(20):
        x = (np.random.default_rng(seed).standard_normal((3, 7)) + 1000).astype(np.float32)
        mean = x.mean(axis=-1)
        exact = x.astype(np.float64).var(axis=-1)
        worst.append(np.abs((x * x).mean(axis=-1) - mean * mean - exact).max())
    assert np.median(worst) > 0.03  # of 1: less than two digits are left
    assert np.median(worst) < 1.0
