"""The reference and every right solution of mlp-two-layer, against torch, and what the text says.

Torch's float64 autograd is the oracle, and the loss is written from torch's own operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.harness import Array, Program, assert_close, each, leaves, normal, variants

variant = variants(__file__)
BAND = {"float64": 1e-12, "float32": 2e-5}
SIZES = [(1, 3, 5, 2), (7, 5, 5, 5), (6, 3, 5, 2), (4, 2, 7, 1), (1, 1, 1, 1), (23, 4, 3, 6)]
ACTS = ["relu", "sigmoid"]


def drawn(seed: int, sizes: tuple[int, ...], dtype: str = "float64") -> list[Array]:
    """x, W1, b1, W2, b2 and t for B, d, m and o."""
    rows, d, m, o = sizes
    return normal(seed, (rows, d), (m, d), (m,), (o, m), (o,), (rows, o), dtype=dtype)


def oracle(inputs: list[Array], act: str, keep: Array | None = None) -> list[Array]:
    """y, the loss, and the gradients of y, x, W1, b1, W2 and b2."""
    x, w1, b1, w2, b2 = given = leaves(*inputs[:-1])
    t = torch.tensor(inputs[-1].astype(np.float64))
    h = getattr(torch, act)(F.linear(x, w1, b1))
    y = F.linear(h, w2, b2)
    if keep is None:
        loss = F.mse_loss(y, t, reduction="sum") / 2 / len(t)
    else:
        chosen = torch.tensor(keep)
        loss = F.mse_loss(y[chosen], t[chosen], reduction="sum") / 2 / max(int(keep.sum()), 1)
    grads = torch.autograd.grad(loss, [y, *given])
    return [tensor.detach().numpy() for tensor in (y, loss, *grads)]


def run(program: Program, inputs: list[Array], act: str, *keep: Array) -> list[Any]:
    y, cache = program.forward(*inputs[:-1], act)
    loss, grad_y = program.half_squared_error(y, inputs[-1], *keep)
    return [y, loss, grad_y, *program.backward(grad_y, cache)]


def agrees(found: list[Any], wanted: list[Array], dtype: np.dtype[Any]) -> None:
    assert_close(found.pop(1), wanted.pop(1), BAND[dtype.name], least=1)  # the loss is any number
    assert_close(found, wanted, BAND, dtype, least=1)


@each("dtype", ["float64", "float32"])
@each("act", ACTS)
@each("sizes", SIZES)
def test_output_loss_and_gradients_are_those_of_torch(
    program: Program, sizes: tuple[int, ...], act: str, dtype: str
) -> None:
    inputs = drawn(1, sizes, dtype)
    agrees(run(program, inputs, act), oracle(inputs, act), np.dtype(dtype))


@each("dtype", ["float64", "float32"])
@each("act", ACTS)
def test_only_rows_that_count_count(program: Program, act: str, dtype: str) -> None:
    inputs, keep = drawn(2, (7, 3, 5, 2), dtype), np.array([0, 1, 1, 0, 1, 0, 1], bool)
    wanted = oracle(inputs, act, keep)
    inputs[-1][0], inputs[-1][3, 0], inputs[-1][5] = np.nan, -np.inf, np.inf
    with np.errstate(all="ignore"):
        agrees(run(program, inputs, act, keep), wanted, np.dtype(dtype))


def test_where_no_row_counts_all_is_zero(program: Program) -> None:
    inputs = drawn(3, (4, 3, 5, 2))
    _, loss, *grads = run(program, inputs, "relu", np.zeros(4, bool))
    assert loss == 0
    assert not any(grad.any() for grad in grads)


def test_the_slope_of_a_relu_is_that_of_torch_at_zero(program: Program) -> None:
    inputs = drawn(4, (3, 2, 3, 2))
    inputs[0][0] = inputs[1][1] = inputs[2][:] = 0  # the first row and the second unit
    agrees(run(program, inputs, "relu"), oracle(inputs, "relu"), np.dtype("float64"))


@each("dtype", ["float64", "float32"])
def test_units_may_be_saturated(program: Program, dtype: str) -> None:
    inputs = drawn(5, (5, 2, 3, 2), dtype)
    inputs[0][1:4] *= 4000
    with np.errstate(all="ignore"):
        found = run(program, inputs, "sigmoid")
    agrees(found, oracle(inputs, "sigmoid"), np.dtype(dtype))


# What the text says.


def training(program: Program, steps: int) -> list[float]:
    """Losses of 64 rows and a sigmoid, plain SGD with a rate of 0.5."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((64, 3))
    t = np.stack([np.sin(2 * x[:, 0]) + x[:, 1] ** 2, x[:, 1] * x[:, 2] + 2], 1)
    w1, w2 = rng.standard_normal((8, 3)), rng.standard_normal((2, 8)) / 8**0.5
    weights = [w1, np.zeros(8), w2, np.zeros(2)]
    losses = []
    for _ in range(steps + 1):
        y, cache = program.forward(x, *weights, "sigmoid")
        loss, grad_y = program.half_squared_error(y, t)
        losses.append(float(loss))
        grads = program.backward(grad_y, cache)[1:]
        weights = [w - 0.5 * g for w, g in zip(weights, grads, strict=True)]
    return losses


def test_the_run_of_the_prompt(starter: Program, reference: Program) -> None:
    old, new = training(starter, 1000), training(reference, 1000)
    assert [round(old[step], 2) for step in (0, 100, 1000)] == [4.38, 0.82, 0.78]
    assert round(new[1000], 2) == 0.04
    for name, last in (("slope-of-h", 0.70), ("bias-averaged", 0.27)):
        assert round(training(variant(name), 1000)[1000], 2) == last


def test_the_unit_test_of_the_prompt_passes(starter: Program) -> None:
    for seed in range(8):
        inputs = drawn(seed, (1, 5, 4, 3))
        agrees(run(starter, inputs, "relu"), oracle(inputs, "relu"), np.dtype("float64"))


def test_using_every_row_twice(starter: Program, reference: Program) -> None:
    inputs = drawn(8, (6, 3, 5, 2))
    twice = [np.repeat(a, 2, axis=0) if a.shape[0] == 6 else a for a in inputs]
    once, both = run(reference, inputs, "sigmoid"), run(reference, twice, "sigmoid")
    for index in (1, 4, 5, 6, 7):  # the loss and the gradients of the parameters
        np.testing.assert_allclose(both[index], once[index], rtol=1e-12)
    np.testing.assert_allclose(both[3], np.repeat(once[3] / 2, 2, axis=0), rtol=1e-12)
    once, both = run(starter, inputs, "relu"), run(starter, twice, "relu")
    for index, factor in zip((1, 4, 5, 6, 7), (1, 1, 0.5, 1, 0.5), strict=True):
        np.testing.assert_allclose(both[index], factor * once[index], rtol=1e-12)
    assert reference.WHY == {"bias": "c", "sizes": "a", "stacked": "d"}


def test_a_transpose_too_many_is_an_exception_unless_sizes_agree() -> None:
    idea = variant("w2-untransposed")
    assert np.isfinite(run(idea, drawn(9, (2, 3, 4, 4)), "relu")[3]).all()
    for sizes in ((2, 3, 4, 2), (4, 3, 4, 2)):
        with pytest.raises(ValueError, match="mismatch"):
            run(idea, drawn(9, sizes), "relu")


def test_slopes_are_where_the_feedback_says() -> None:
    z = torch.linspace(-30, 30, 10001, dtype=torch.float64)
    h = torch.sigmoid(z)
    wrong = torch.sigmoid(h) * (1 - torch.sigmoid(h))
    assert wrong.min() > 0.19
    assert wrong.max() <= 0.25
    assert (h * (1 - h)).max() <= 0.25
    assert 0.25**10 < 1e-6
    outside = (z < 0) | (z > 1)
    assert (z * (1 - z))[outside].max() < 0
    with np.errstate(all="ignore"):
        for dtype, bound in (np.float64, 709), (np.float32, 88):
            assert np.isfinite(np.exp(dtype(bound)))
            assert np.isinf(np.exp(dtype(bound + 1)))


def test_what_makes_float64_of_float32() -> None:
    single = np.ones(3, np.float32)
    assert (single / np.array([True, False]).sum()).dtype == np.float64
    assert (single * np.where(single > 0, 1.0, 0.0)).dtype == np.float64
    assert (single / 2).dtype == (single * (single > 0)).dtype == np.float32


def test_a_dead_unit_gets_no_gradient_and_half_of_z_is_negative(reference: Program) -> None:
    inputs = drawn(10, (1000, 3, 50, 2))
    inputs[2][7] = -1000
    *_, of_first, of_bias, of_second, _ = run(reference, inputs, "relu")
    assert not of_first[7].any()
    assert not of_bias[7]
    assert not of_second[:, 7].any()
    z = inputs[0] @ inputs[1].T + inputs[2]
    negative = np.delete(z, 7, axis=1) < 0
    assert 0.45 < negative.mean() < 0.55
    assert not negative.all(axis=0).any()


def test_adam_nearly_hides_averaged_biases(reference: Program) -> None:
    x, *start, t = drawn(12, (64, 3, 8, 2))
    losses = []
    for program in (reference, variant("bias-averaged")):
        weights = [torch.tensor(w) for w in start]
        optimizer = torch.optim.Adam(weights, lr=0.01)
        for _ in range(100):
            y, cache = program.forward(x, *(w.numpy() for w in weights), "sigmoid")
            loss, grad_y = program.half_squared_error(y, t)
            for w, grad in zip(weights, program.backward(grad_y, cache)[1:], strict=True):
                w.grad = torch.tensor(grad)
            optimizer.step()
        losses.append(loss)
    assert abs(losses[0] - losses[1]) < 1e-4 * losses[0]


def test_gelu_and_silu_come_to_one_value_with_two_slopes() -> None:
    for function in F.gelu, F.silu:
        z = torch.tensor([-8.0, -0.5], dtype=torch.float64, requires_grad=True)
        low, high = function(z)
        assert high < low < 0  # it falls, and rises again towards 0
        (slopes,) = torch.autograd.grad(function(z).sum(), z)
        assert slopes[0] < 0 < slopes[1]


def test_backward_has_twice_the_products_of_forward(reference: Program) -> None:
    class Counted(np.ndarray):
        """An array that counts the multiplications of its matrix products."""

        multiplied = 0

        def __matmul__(self, other: Any) -> Any:
            Counted.multiplied += self.shape[0] * self.shape[1] * other.shape[1]
            return (np.asarray(self) @ np.asarray(other)).view(Counted)

    inputs = [a.view(Counted) for a in drawn(11, (6, 3, 5, 2))]
    y, cache = reference.forward(*inputs[:-1], "relu")
    assert Counted.multiplied == 6 * (3 * 5 + 5 * 2)
    reference.backward(y, cache)
    assert Counted.multiplied == 3 * 6 * (3 * 5 + 5 * 2)
