"""The reference and every right solution of int8-linear, against exact numbers and torch.

Whole numbers and scales come from fractions, sums from Python's integers, gradients from torch's
autograd in float64, with a rounding whose error is a constant.
"""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import torch

from tests.harness import Array, Program, assert_close, each, normal, variants

variant = variants(__file__)


def exact_rows(a: Array) -> tuple[Array, list[Fraction]]:
    """The nearest whole numbers of each row, and its scale; a row of zeros has a scale of 1."""
    numbers, scales = [], []
    for row in a:
        entries = [Fraction(float(v)) for v in row]
        scale = max(abs(v) for v in entries) / 127 or Fraction(1)
        numbers.append([round(v / scale) for v in entries])
        scales.append(scale)
    return np.array(numbers), scales


def away_from_middles(driver: Program, a: Array, threshold: float = np.inf) -> Array:
    one = np.ones(1)
    return np.asarray(driver.apart(None, a, one, one, threshold))


@each("dtype", ["float32", "float64"])
@each("sizes", [(3, 5), (6, 6), (1, 4), (7, 2)])
def test_weights_are_the_nearest_whole_numbers(
    program: Program, driver: Program, sizes: tuple[int, int], dtype: str
) -> None:
    drawn = normal(sizes, sizes)[0] * np.geomspace(0.01, 100, sizes[0])[:, None]
    w = away_from_middles(driver, drawn.astype(dtype))
    wq, scale = program.quantize_weight(w)
    numbers, scales = exact_rows(w)
    assert wq.dtype == np.int8
    np.testing.assert_array_equal(wq, numbers)
    np.testing.assert_allclose(scale.astype(float), [float(s) for s in scales], rtol=3e-7)
    assert (np.abs(wq).max(axis=1) == 127).all()


@each("d", [1, 9, 1024, 1041, 5000])
def test_products_are_those_of_pythons_integers(program: Program, d: int) -> None:
    rng = np.random.default_rng(d)
    xq, wq = (rng.integers(-127, 128, (n, d)).astype(np.int8) for n in (3, 4))
    xq[0], wq[0] = 127, 127
    xq[1, : d // 2], xq[1, d // 2 :], wq[1] = 127, -127, 126  # a large sum that cancels
    scales = [rng.uniform(0.01, 1, n).astype(np.float32) for n in (3, 4)]
    y = program.int8_linear(xq, scales[0], wq, scales[1])
    for n, x_row in enumerate(xq.tolist()):
        for f, w_row in enumerate(wq.tolist()):
            total = sum(a * b for a, b in zip(x_row, w_row, strict=True))
            wanted = float(Fraction(float(scales[0][n])) * Fraction(float(scales[1][f])) * total)
            assert abs(float(y[n, f]) - wanted) <= 1e-6 * abs(wanted)


def exact_linear(x: Array, wq: Array, w_scale: Array, threshold: float) -> Array:
    """What linear stands for, with whole numbers from fractions and sums in float64."""
    wide = x.astype(float)
    out = (np.abs(wide) >= threshold).any(axis=0)
    numbers, scales = exact_rows(np.where(out, 0, wide))
    w_hat = wq.astype(float) * w_scale.astype(float)[:, None]
    own = numbers * np.array([float(s) for s in scales])[:, None]
    return np.asarray(np.where(out, wide, own) @ w_hat.T)


@each("threshold", [np.inf, 6.0, 0.5])
def test_activations_have_scales_of_tokens_and_outliers_by_themselves(
    program: Program, driver: Program, threshold: float
) -> None:
    rng = np.random.default_rng(7)
    x = rng.standard_normal((6, 11)) * np.array([1, 50, 0.02, 0, 1e-6, 3])[:, None]
    x[:, 3] *= 30
    x = away_from_middles(driver, x.astype(np.float32), threshold)
    wq = rng.integers(-127, 128, (4, 11)).astype(np.int8)
    w_scale = rng.uniform(0.01, 1, 4).astype(np.float32)
    given = () if np.isinf(threshold) else (threshold,)
    with np.errstate(divide="raise", invalid="raise"):
        y = program.linear(x.copy(), wq, w_scale, *given)
    wanted = exact_linear(x, wq, w_scale, threshold)
    for own, right in zip(y, wanted, strict=True):  # each token at its own size
        assert np.abs(own - right).max() <= 1e-5 * np.abs(right).max()


def by_torch(grad_y: Array, x: Array, w: Array, clip: float) -> list[Array]:
    """The gradients of x, w and clip with roundings whose errors are constants."""

    def rounded(v: torch.Tensor) -> torch.Tensor:
        return v + (v.round() - v).detach()

    leaves = [torch.tensor(a, requires_grad=True) for a in (x, w, np.array(clip))]
    x_leaf, w_leaf, c = leaves
    limited = torch.where(x_leaf > c, c, torch.where(x_leaf < -c, -c, x_leaf))
    x_hat = rounded(limited / c * 127) * (c / 127)
    scale = w_leaf.detach().abs().amax(1, keepdim=True) / 127
    y = x_hat @ (rounded(w_leaf / scale) * scale).T
    grads = torch.autograd.grad(y, leaves, torch.tensor(grad_y))
    return [g.numpy() for g in grads]


@each("clip", [0.3, 1.0, 9.0])
def test_straight_through_gradients_are_those_of_torch(program: Program, clip: float) -> None:
    grad_y, x, w = normal(3, (6, 4), (6, 5), (4, 5))
    x[0, :3] = clip, -clip, 0.0
    found = program.qat_backward(grad_y, x, w, clip)
    for own, right in zip(found, by_torch(grad_y, x, w, clip), strict=True):
        # Scales may be float32.
        assert_close(np.asarray(own), right, 1e-6)


def test_what_is_constant_in_the_gradients_leaves_a_derivative(reference: Program) -> None:
    """With the errors of rounding held, differences of y agree; with rounding they are 0."""
    grad_y, x, w = normal(4, (3, 2), (3, 4), (2, 4))
    clip, h = 0.9, 1e-6
    wq, scale = reference.quantize_weight(w)
    w_hat = wq * scale[:, None]

    def loss(x: Array, clip: float, errors: Array | None) -> float:
        v = np.clip(x, -clip, clip) / clip * 127
        whole = np.rint(v) if errors is None else v + errors
        return float((grad_y * (whole * clip / 127 @ w_hat.T)).sum())

    v = np.clip(x, -clip, clip) / clip * 127
    errors = np.rint(v) - v
    grad_x, _, grad_clip = reference.qat_backward(grad_y, x, w, clip)
    move = np.zeros_like(x)
    inside = np.argwhere(np.abs(x) < clip - 0.01)[0]
    move[tuple(inside)] = h
    kept, plain = (
        (loss(x + move, clip, e) - loss(x - move, clip, e)) / (2 * h) for e in (errors, None)
    )
    assert abs(kept - grad_x[tuple(inside)]) < 1e-6
    assert plain == 0
    kept = (loss(x, clip + h, errors) - loss(x, clip - h, errors)) / (2 * h)
    assert abs(kept - grad_clip) < 1e-6


def test_a_layer_learns_through_its_rounding_and_not_without(reference: Program) -> None:
    rng = np.random.default_rng(5)
    x, w = rng.standard_normal((64, 6)), rng.standard_normal((1, 6))
    goal = x @ w.T

    def fitted(p: Program) -> float:
        # x is what learns: it comes out of a layer below.
        below, clip = np.zeros((6, 6)), 2.5
        below += 0.1 * rng.standard_normal((6, 6))
        for _ in range(300):
            hidden = x @ below
            wq, scale = p.quantize_weight(w)
            hat = np.rint(np.clip(hidden, -clip, clip) / clip * 127) * clip / 127
            error = hat @ (wq * scale[:, None]).T - goal
            grad_hidden, _, _ = p.qat_backward(2 * error / len(x), hidden, w, clip)
            below -= 0.02 * x.T @ grad_hidden
        return float((error**2).mean())

    assert fitted(reference) < 0.2 * float((goal**2).mean())
    assert fitted(variant("rounding-has-no-slope")) > 0.6 * float((goal**2).mean())


# What the text says.


def off(p: Program, right: Program, w: Array, x: Array) -> float:
    """How far the outputs are off, in percent, with activations that are quantized well."""
    xq, x_scale = right.quantize_weight(x)
    wq, w_scale = p.quantize_weight(w)
    y = p.int8_linear(xq, x_scale, wq, w_scale)
    wanted = x @ w.T
    return 100 * float(np.linalg.norm(y - wanted) / np.linalg.norm(wanted))


def test_the_starter_is_fine_until_it_is_trained(starter: Program, reference: Program) -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((64, 1024)).astype(np.float32)
    torch.manual_seed(0)
    fresh = torch.nn.Linear(1024, 1024).weight.detach().numpy()
    plain = rng.standard_normal((1024, 1024)) / 32
    rows = plain * np.exp(0.5 * rng.standard_normal(1024))[:, None]
    column = plain * np.where(np.arange(1024) == 5, 20, 1)
    layers = [fresh, *(w.astype(np.float32) for w in (plain, rows, column))]
    found = [off(starter, reference, w, x) for w in layers]
    assert round(found[0], 1) == 0.9
    assert 12.5 <= found[1] <= 14.5
    assert 28 <= found[2] <= 32
    assert 65 <= found[3] <= 75
    assert all(off(reference, reference, w, x) < 4.5 for w in layers)
    assert off(reference, reference, fresh, x) > 0.85  # what eight bits cost
    xq, x_scale = reference.quantize_weight(x)
    wq, w_scale = reference.quantize_weight(fresh)
    whole = xq.astype(np.int64) @ wq.T.astype(np.int64)
    y = starter.int8_linear(xq, np.ones_like(x_scale), wq, np.ones_like(w_scale))
    np.testing.assert_array_equal(y, whole)  # equals exact integers at this width


def test_how_many_products_a_sum_can_hold() -> None:
    assert (2**31 - 1) // 127**2 == 133_144
    assert 2**24 // 127**2 == 1_040
    assert np.float32(1040 * 127**2) == 1040 * 127**2 < 2**24 < 1041 * 127**2
    assert 28_672 * 127**2 > 2**24
    assert 100_000 * 127**2 < 2**31


def test_what_an_outlier_costs(reference: Program) -> None:
    rng = np.random.default_rng(0)
    w, x = (rng.standard_normal((n, 512)).astype(np.float32) for n in (256, 64))
    x[:, 7] *= 60
    rest = np.arange(512) != 7

    def cost(x: Array, w: Array, *threshold: float) -> float:
        y = reference.linear(x, *reference.quantize_weight(w), *threshold)
        wanted = x @ w.T
        return round(100 * float(np.linalg.norm(y - wanted) / np.linalg.norm(wanted)), 1)

    assert [cost(x, w), cost(x, w, 6.0), cost(x[:, rest], w[:, rest])] == [5.0, 0.8, 1.1]


def test_inputs_are_moved_away_from_the_middle_by_the_driver(driver: Program) -> None:
    a = np.array([[127.0, 10.5, -3.48, 64.0]])
    moved = away_from_middles(driver, a)
    np.testing.assert_allclose(moved, [[127, 10.4, -3.38, 64]])
    one = SimpleNamespace(quantize_weight=variant("cut-not-rounded").quantize_weight)
    assert one.quantize_weight(moved)[0].tolist() == [[127, 10, -3, 64]]
