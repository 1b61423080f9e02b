"""Products with matrices of derivatives, against the matrices themselves, built by torch.func.

The figures that prompts, feedback and follow-ups quote are at the end.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.func import hessian, jacrev
from torch.utils.flop_counter import FlopCounterMode

from tests.harness import Program, each, variants

variant = variants(__file__)
Tensors = list[torch.Tensor]
CLOSE = 1e-11

# Forward mode compiles its formulas with torch.jit, which says that it is deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def drawn(seed: int, sizes: tuple[int, ...] = (6, 3, 4, 2)) -> tuple[Tensors, Tensors, Tensors]:
    """Data, parameters and vectors of a network with rows, inputs, hidden units and outputs."""
    g = torch.Generator().manual_seed(seed)
    rows, inputs, hidden, outputs = sizes
    shapes = [(inputs, hidden), (hidden,), (hidden, outputs)]

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=g, dtype=torch.float64)

    params = [normal(*shape).requires_grad_() for shape in shapes]
    return [normal(rows, inputs), normal(rows, outputs)], params, [normal(*s) for s in shapes]


def residuals(data: Tensors) -> Callable[[Tensors], torch.Tensor]:
    x, t = data
    return lambda p: (torch.tanh(x @ p[0] + p[1]) @ p[2] - t).reshape(-1)


def flat(tensors: Any) -> torch.Tensor:
    return torch.cat([t.detach().reshape(-1) for t in tensors])


def of_flat(function: Callable[[Tensors], torch.Tensor], like: Tensors) -> Callable[..., Any]:
    sizes = [p.numel() for p in like]
    return lambda w: function([one.view_as(p) for one, p in zip(w.split(sizes), like, strict=True)])


def agree(found: Any, wanted: torch.Tensor, band: float = CLOSE) -> None:
    assert torch.allclose(flat(found), wanted, rtol=band, atol=band)


@each("damping", [0.0, 0.5, 20.0])
def test_the_product_is_that_of_the_matrix(program: Program, damping: float) -> None:
    data, params, vectors = drawn(1)
    of = residuals(data)
    for loss_of in (
        lambda p: (of(p) ** 2).sum() / 2,
        lambda p: of(p).mean(),
        lambda p: torch.logsumexp(of(p), 0),
    ):
        matrix = hessian(of_flat(loss_of, params))(flat(params))
        wanted = matrix @ flat(vectors) + damping * flat(vectors)
        agree(program.hessian_product(loss_of, params, vectors, damping), wanted)
    jacobian = jacrev(of_flat(of, params))(flat(params))
    wanted = jacobian.T @ (jacobian @ flat(vectors)) + damping * flat(vectors)
    agree(program.gauss_newton_product(of, params, vectors, damping), wanted)


def test_what_has_no_curvature_is_damped(program: Program) -> None:
    data, params, vectors = drawn(2)
    of = residuals(data)
    spare, spare_v = torch.ones(2, dtype=torch.float64, requires_grad=True), torch.arange(2.0)
    more, more_v = [*params, spare], [*vectors, spare_v.double()]
    for function, given in (
        (program.hessian_product, lambda p: (of(p) ** 2).sum()),
        (program.gauss_newton_product, of),
    ):
        found = function(given, more, more_v, 0.25)
        agree(found[3:], 0.25 * spare_v.double())
        assert spare.grad is None
    linear = program.hessian_product(lambda p: 2 * p[0].sum() + p[1].sum(), params, vectors, 3.0)
    agree(linear, 3 * flat(vectors))
    constant = program.hessian_product(lambda _: data[1].sum(), params, vectors, 3.0)
    agree(constant, 3 * flat(vectors))
    constant = program.gauss_newton_product(lambda _: data[1].reshape(-1), params, vectors, 3.0)
    agree(constant, 3 * flat(vectors))


def by_counting(dims: list[int], itemsize: int) -> dict[str, int]:
    """Costs, from the products that torch makes for a chain of matrices."""
    weights = [torch.ones(m, n) for n, m in itertools.pairwise(dims)]

    def flops(run: Callable[[], object]) -> int:
        with FlopCounterMode(display=False) as counted:
            run()
        return int(counted.get_total_flops())

    def along(matrix: torch.Tensor) -> None:
        for w in weights:
            matrix = w @ matrix

    def back(matrix: torch.Tensor) -> None:
        for w in reversed(weights):
            matrix = matrix @ w

    def multiplied() -> None:
        product = weights[-1]
        for w in reversed(weights[:-1]):
            product = product @ w
        product @ torch.ones(dims[0], 1)

    x = torch.ones(1, dims[0], requires_grad=True)
    kept: list[torch.Tensor] = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda t: t):
        y = x
        for w in weights:
            y = torch.tanh(y @ w.T)
    outputs = [t for t in kept if not any(t.data_ptr() == w.data_ptr() for w in weights)]
    return {
        "jvp": flops(lambda: along(torch.ones(dims[0], 1))),
        "vjp": flops(lambda: back(torch.ones(1, dims[-1]))),
        "jacobian": min(
            dims[0] * flops(lambda: along(torch.ones(dims[0], 1))),
            dims[-1] * flops(lambda: back(torch.ones(1, dims[-1]))),
        ),
        "multiplied": flops(multiplied),
        "kept_jvp": 0,
        "kept_vjp": itemsize * sum(t.numel() for t in outputs),
    }


@each("dims", [[3, 5], [2, 5, 3], [7, 4, 6, 2], [1, 8, 8, 9]])
def test_costs_are_what_torch_counts(program: Program, dims: list[int]) -> None:
    assert {k: int(v) for k, v in program.costs(dims, 4).items()} == by_counting(dims, 4)


# What the text says.


def solved(apply: Callable[[Tensors], Any], grads: Tensors) -> tuple[Tensors, int]:
    """Conjugate gradients; the solution and the iterations it took."""
    found, left = [torch.zeros_like(g) for g in grads], [g.clone() for g in grads]
    way = [g.clone() for g in grads]
    size = first = float(sum((r * r).sum() for r in left))
    for iteration in range(1, 51):
        turned = apply(way)
        rate = size / float(sum((w * t).sum() for w, t in zip(way, turned, strict=True)))
        found = [f + rate * w for f, w in zip(found, way, strict=True)]
        left = [r - rate * t for r, t in zip(left, turned, strict=True)]
        before, size = size, float(sum((r * r).sum() for r in left))
        if size < 1e-16 * first:
            return found, iteration
        way = [r + size / before * w for r, w in zip(left, way, strict=True)]
    return found, 50


def fitted(program: Program, seed: int, steps: int) -> tuple[float, list[int]]:
    """A logistic regression; the loss at the end, and the iterations of every step."""
    g = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=g, dtype=torch.float64)

    scale = torch.logspace(0, -2, 6, dtype=torch.float64)
    x = normal(200, 6) * scale
    y = torch.sign(x @ (normal(6) / scale) + normal(200))

    def loss_of(p: Tensors) -> torch.Tensor:
        return torch.nn.functional.softplus(-y * (x @ p[0] + p[1])).mean()

    params = [torch.zeros(n, dtype=torch.float64, requires_grad=True) for n in (6, 1)]
    damping, took = 1.0, []
    for _ in range(steps):
        loss = loss_of(params)
        grads = list(torch.autograd.grad(loss, params))
        step, iterations = solved(
            lambda v: program.hessian_product(loss_of, params, v, damping),  # noqa: B023
            grads,
        )
        took.append(iterations)
        new = [(p - s).detach().requires_grad_() for p, s in zip(params, step, strict=True)]
        better = bool(loss_of(new) < loss)
        params, damping = (new, damping / 4) if better else (params, damping * 4)
    return loss_of(params).item(), took


def test_the_runs_end_where_the_prompt_says(reference: Program, starter: Program) -> None:
    right = [fitted(reference, seed, 30) for seed in range(5)]
    wrong = [fitted(starter, seed, 1000) for seed in range(5)]
    means = [sum(loss for loss, _ in runs) / 5 for runs in (right, wrong)]
    assert [round(mean, 2) for mean in means] == [0.30, 0.39]
    assert {n for _, took in wrong for n in took} == {1}
    assert max(n for _, took in right for n in took) > 5


def test_the_starter_passes_the_tests_of_the_team(starter: Program) -> None:
    data, params, vectors = drawn(3)
    other = drawn(4)[2]
    of = residuals(data)

    def times(v: Tensors) -> torch.Tensor:
        found = starter.hessian_product(lambda p: (of(p) ** 2).sum(), params, v, 0.5)
        return flat(found)

    both = times([2 * a + b for a, b in zip(vectors, other, strict=True)])
    assert torch.allclose(both, 2 * times(vectors) + times(other))
    assert flat(other) @ times(vectors) == pytest.approx(float(flat(vectors) @ times(other)))
    assert flat(vectors) @ times(vectors) > 0
    assert torch.allclose(times(vectors), 0.5 * flat(vectors))


def test_without_a_second_term_torch_refuses() -> None:
    p = torch.ones(2, dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad((p**3).sum(), p)
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.autograd.grad(g.sum(), p)


def test_multiplied_out_a_chain_takes_as_much_as_the_follow_up_says(reference: Program) -> None:
    price = reference.costs([64] * 7, 4)
    assert (price["jvp"], price["multiplied"]) == (49_152, 2_629_632)
    assert price["multiplied"] / price["jvp"] == pytest.approx(53.5)


def test_three_inputs_and_512_outputs(reference: Program) -> None:
    price = reference.costs([3, 256, 256, 512], 4)
    assert price["jacobian"] == 3 * price["jvp"]
    rows = variant("jacobian-always-by-rows").costs([3, 256, 256, 512], 4)
    assert round(rows["jacobian"] / price["jacobian"]) == 171


def test_a_backward_pass_with_weights_is_two_forward_passes() -> None:
    layers = [torch.nn.Linear(32, 32, bias=False) for _ in range(64)]
    x = torch.ones(4, 32)
    counts = []
    for backward in (False, True):
        with FlopCounterMode(display=False) as counted:
            y = torch.nn.Sequential(*layers)(x)
            if backward:
                y.sum().backward()
        counts.append(int(counted.get_total_flops()))
    assert (counts[1] - counts[0]) / counts[0] == pytest.approx(2, rel=0.01)


def test_the_hessian_of_squares_has_negative_directions_and_gauss_newton_none() -> None:
    data, params, _ = drawn(5)
    of = residuals(data)
    matrix = hessian(of_flat(lambda p: (of(p) ** 2).sum() / 2, params))(flat(params))
    jacobian = jacrev(of_flat(of, params))(flat(params))
    assert float(torch.linalg.eigvalsh(matrix)[0]) < -0.1
    assert float(torch.linalg.eigvalsh(jacobian.T @ jacobian)[0]) > -1e-12
