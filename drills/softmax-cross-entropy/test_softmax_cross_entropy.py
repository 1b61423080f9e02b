"""The reference and every right solution of softmax-cross-entropy, against torch and closed forms.

Torch's float64 autograd is the oracle; for any matrix times any vector, closed forms in plain
Python are.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import torch
import torch.nn.functional as F

from tests.harness import Array, Program, assert_close, by_autograd, each, leaves, normal

INF = math.inf
BAND = {"float64": 1e-12, "float32": 2e-5}
TIGHT = {"float64": 1e-14, "float32": 2e-6}


def oracle(z: Array, target: Array) -> tuple[Array, float, Array]:
    """Torch's log-probabilities, loss and gradient in float64."""
    loss, grad = by_autograd(lambda logits: F.cross_entropy(logits, torch.tensor(target)), z)
    return torch.tensor(z, dtype=torch.float64).log_softmax(-1).numpy(), float(loss), grad


def agrees(program: Program, z: Array, target: Array) -> None:
    lp, loss, grad = oracle(z, target)
    assert_close(program.log_softmax(z), lp, BAND, z.dtype)
    found = float(program.cross_entropy(z, target))
    # A loss that rounds to 0 in torch may be a few 1e-20 in a more careful solution.
    assert abs(found - loss) <= BAND[z.dtype.name] * abs(loss) + 1e-15
    assert_close(program.cross_entropy_grad(z, target), grad, BAND, z.dtype)


BATCHES = list(itertools.product([1, 5], [2, 3, 7], ["float64", "float32"], [0.3, 30.0]))


@each(("rows", "classes", "dtype", "scale"), BATCHES)
def test_loss_and_gradient_are_those_of_torch(
    program: Program, rows: int, classes: int, dtype: str, scale: float
) -> None:
    rng = np.random.default_rng([rows, classes])
    z = (rng.standard_normal((rows, classes)) * scale).astype(dtype)
    agrees(program, z, rng.integers(0, classes, rows))


@each("dtype", ["float64", "float32"])
@each(
    ("z", "target"),
    [
        ([[1e4, 0.0, -1e4], [-1e4, -1e4, -1e4]], [1, 0]),
        ([[1e4, 9999.0], [0.0, 1.0]], [1, 0]),
        ([[50.0, 0.0]], [1]),
        ([[800.0, 0.0], [-800.0, 0.0]], [1, 1]),
        ([[1e5, -1e5], [-1e5, -1e5]], [1, 0]),
        ([[1.0, -INF, 2.0], [-INF, 5.0, -INF], [-INF, -3e4, 3e4]], [2, 1, 2]),
        ([[3.0], [-7.0]], [0, 0]),
    ],
)
def test_extreme_and_masked_logits_give_what_torch_gives(
    program: Program, z: list[list[float]], target: list[int], dtype: str
) -> None:
    agrees(program, np.array(z, dtype), np.array(target))


@each("dtype", ["float64", "float32"])
def test_no_rows_give_no_rows(program: Program, dtype: str) -> None:
    z, target = np.zeros((0, 4), dtype), np.zeros(0, np.int64)
    assert_close(program.log_softmax(z), z, 0.0, dtype)
    assert_close(program.cross_entropy_grad(z, target), z, 0.0, dtype)


LINES = [
    ([0.25, 0.25, 0.5], [0.0, 1.0, 0.0]),
    ([0.0, 0.25, 0.75], [0.0, 1.0, 0.0]),
    ([0.0, 1.0], [0.0, 1.0]),
    ([0.1, 0.2, 0.3, 0.4], [0.05, 0.0, 0.9, 1.3]),
    ([1.0], [1.0]),
    ([0.5, 0.5], [0.0, 0.0]),
]


@each("dtype", ["float64", "float32"])
@each(("p", "y"), LINES)
def test_line_1_is_the_derivative_of_the_weighted_logarithms(
    program: Program, p: list[float], y: list[float], dtype: str
) -> None:
    probability, weight = np.array(p, dtype), np.array(y, dtype)
    (wide,) = leaves(probability)
    used = [k for k, w in enumerate(y) if w]
    wanted = np.zeros(len(p))
    if used:
        loss = -(torch.tensor(weight.astype(np.float64))[used] * wide[used].log()).sum()
        (grad,) = torch.autograd.grad(loss, wide)
        wanted = grad.numpy()
    found = program.dloss_dp(probability, weight)
    assert_close(found, wanted, BAND, probability.dtype)
    assert not found[weight == 0].any()


@each("dtype", ["float64", "float32"])
@each("logits", [[0.3], [1.0, -2.0], [0.1, 0.2, -3.0, 2.0], [60.0, 0.0, 1.0]])
def test_line_2_is_torchs_jacobian_of_the_softmax(
    program: Program, logits: list[float], dtype: str
) -> None:
    z = torch.tensor(logits, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(  # type: ignore[no-untyped-call]
        lambda v: v.softmax(-1), z
    )
    p = z.softmax(-1).numpy().astype(dtype)
    assert_close(program.softmax_jacobian(p), jacobian.numpy(), TIGHT, dtype, least=1)


@each("dtype", ["float64", "float32"])
@each("size", [1, 2, 5])
def test_line_3_sums_over_the_rows_of_any_matrix(program: Program, size: int, dtype: str) -> None:
    rng = np.random.default_rng(size)
    matrix = rng.standard_normal((size, size)).astype(dtype)
    g = rng.standard_normal(size).astype(dtype)
    wanted = np.array(
        [math.fsum(float(matrix[i, j]) * float(g[i]) for i in range(size)) for j in range(size)]
    )
    assert_close(program.contract(matrix, g), wanted, BAND, g.dtype)


@each("classes", [1, 2, 6])
def test_the_three_lines_together_give_the_sum_of_the_weights_times_p_minus_y(
    program: Program, classes: int
) -> None:
    rng = np.random.default_rng(classes)
    p = np.exp(rng.standard_normal(classes))
    p /= p.sum()
    for y in (np.eye(classes)[0], rng.uniform(0.1, 1, classes)):
        dz = program.contract(program.softmax_jacobian(p), program.dloss_dp(p, y))
        np.testing.assert_allclose(dz, program.dloss_dz(p, y), rtol=0, atol=1e-13)
        np.testing.assert_allclose(dz, p * y.sum() - y, rtol=0, atol=1e-13)


@each("dtype", ["float64", "float32"])
@each("y", [[0.0, 1.0, 0.0, 0.0], [0.5, 0.0, 1.5, 0.25], [0.1, 0.2, 0.3, 0.4], [0.0] * 4])
def test_line_4_is_torchs_gradient_for_any_weights(
    program: Program, y: list[float], dtype: str
) -> None:
    z, weights = np.array([0.3, -1.0, 2.0, 0.5]), np.array(y, dtype)
    of = torch.tensor(weights.astype(np.float64))
    _, grad = by_autograd(lambda logits: -(of * logits.log_softmax(-1)).sum(), z)
    p = torch.tensor(z).softmax(-1).numpy().astype(dtype)
    assert_close(program.dloss_dz(p, weights), grad, TIGHT, dtype, least=1)


@each("dtype", ["float64", "float32"])
@each(("rows", "classes"), [(1, 1), (3, 5), (4, 2)])
def test_the_softmaxs_backward_is_torchs_for_any_gradient(
    program: Program, rows: int, classes: int, dtype: str
) -> None:
    z, g = normal([rows, classes], (rows, classes), (rows, classes), dtype=dtype)
    p, grad = by_autograd(lambda logits: logits.softmax(-1), z, grad_y=g)
    assert_close(program.softmax_vjp(p.astype(dtype), g), grad, TIGHT, dtype, least=1)


def test_the_starter_goes_downhill_although_it_is_wrong(starter: Program, driver: Program) -> None:
    z, target = np.random.default_rng(0).standard_normal((4, 5)), np.arange(4)
    losses = driver.descend(starter, z, target, 1.0, 20)
    assert len(losses) == 21
    assert all(later < earlier for earlier, later in itertools.pairwise(losses))
    assert np.abs(starter.cross_entropy_grad(z, target) - oracle(z, target)[2]).max() > 0.01


def test_what_a_colleague_would_try_agrees_with_the_starter(starter: Program) -> None:
    """A row at a time, one-hot labels, line 1, and the diagonal of line 2 by nudging."""
    z, target = np.random.default_rng(0).standard_normal((4, 5)), np.array([0, 4, 2, 3])
    for row in range(4):
        agrees(starter, z[row : row + 1], target[row : row + 1])
    p, y = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.5, 0, 1.5, 0.25])
    np.testing.assert_allclose(starter.dloss_dp(p, y), -y / p)
    logits = torch.tensor(z[0])
    nudged = torch.autograd.functional.jacobian(  # type: ignore[no-untyped-call]
        lambda v: v.softmax(-1), logits
    )
    own = np.diag(starter.softmax_jacobian(logits.softmax(-1).numpy()))
    np.testing.assert_allclose(own, np.diag(nudged.numpy()), rtol=1e-12)


def test_the_right_letters_are_true_of_the_starter(starter: Program, reference: Program) -> None:
    z, target = np.random.default_rng(1).standard_normal((4, 5)), np.array([1, 0, 4, 2])
    old, right = starter.cross_entropy_grad(z, target), oracle(z, target)[2]
    np.testing.assert_allclose(old, 4 * right, rtol=1e-12, atol=1e-15)
    twice = np.vstack([z, z]), np.hstack([target, target])
    np.testing.assert_allclose(reference.cross_entropy_grad(*twice)[:4], right / 2, atol=1e-15)
    np.testing.assert_allclose(starter.cross_entropy_grad(*twice)[:4], old, atol=1e-15)
    # The tests that the other letters name pass with the starter.
    at = (np.arange(4), target)
    assert (old[at] < 0).all()
    assert np.count_nonzero(old > 0) == old.size - 4
    np.testing.assert_allclose(old.sum(axis=1), 0, atol=1e-14)
    jacobian = reference.softmax_jacobian(np.array([0.1, 0.05, 0.4, 0.25, 0.2]))
    np.testing.assert_array_equal(jacobian, jacobian.T)
    assert reference.WHY == {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}
