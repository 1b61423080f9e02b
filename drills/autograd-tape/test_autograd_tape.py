"""The reference and every right solution of autograd-tape, against torch's autograd in float64.

The same lines run on Tensors of a program and on tensors of torch: written by hand, and drawn at
random with results that are used several times and shapes that broadcast.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tests.harness import (
    Array,
    Program,
    assert_close,
    each,
    leaves,
    normal,
    saved_for_backward,
    variants,
)

variant = variants(__file__)
SHAPES = [(2, 3), (3,), (1, 3), (2, 1), (), (4, 1, 3)]
LAYERS = 6
OPERATIONS: list[Callable[[Any, Any, float], Any]] = [
    lambda a, b, _: a + b,
    lambda a, b, _: a - b,
    lambda a, b, _: a * b * 0.5,
    lambda a, *_: a.relu(),
    lambda a, *_: -a,
    lambda a, b, _: a.sum() + b,
    lambda a, _, n: n * a - 1,
    lambda a, _, n: n - a,
    lambda a, _, n: a * 2 + n,
]


def both(program: Program, lines: Callable[..., Any], leaves: list[Array]) -> list[list[Array]]:
    """The result of some lines and the gradients of all leaves: the program's, and torch's."""
    mine = [program.Tensor(a, requires_grad=True) for a in leaves]
    theirs: list[Any] = [torch.tensor(a, requires_grad=True) for a in leaves]
    y, right = lines(*mine), lines(*theirs)
    grad = np.random.default_rng(99).standard_normal(right.shape)
    y.backward(grad)
    right.backward(torch.tensor(grad))
    assert all(leaf.grad.dtype == np.float64 for leaf in mine)
    wanted = [right.detach(), *(leaf.grad for leaf in theirs)]
    return [[y.data, *(leaf.grad for leaf in mine)], [np.asarray(a) for a in wanted]]


def tangle(seed: int) -> Callable[..., Any]:
    """Twelve operations on results that are drawn at random; all leaves have a part in it."""

    def lines(*leaves: Any) -> Any:
        rng = np.random.default_rng(seed)
        made = list(leaves)
        for _ in range(12):
            a, b = (made[i] for i in rng.integers(0, len(made), 2))
            number = float(rng.uniform(0.5, 2))
            made.append(OPERATIONS[rng.integers(0, len(OPERATIONS))](a, b, number))
        total = made[-1]
        for one in made[:-1]:
            total = total + one.sum() * 0.25
        return total

    return lines


@each("seed", range(8))
def test_random_tangles_agree_with_torch(program: Program, seed: int) -> None:
    found, wanted = both(program, tangle(seed), normal(seed, *SHAPES))
    assert_close(found, wanted, 1e-13)


@each("turned", [False, True])
def test_a_residual_network_agrees_with_torch(program: Program, turned: bool) -> None:
    def lines(x: Any, w: Any, v: Any) -> Any:
        for matrix in (w, v, w):
            branch = (x @ matrix).relu()
            x = branch + x if turned else x + branch
        return x

    found, wanted = both(program, lines, normal(3, (3, 4), (4, 4), (4, 4)))
    assert_close(found, wanted, 1e-13)


def test_two_losses_on_one_trunk_add_up(program: Program) -> None:
    x, w = normal(4, (2, 3), (2, 3))
    mine = [program.Tensor(a, requires_grad=True) for a in (x, w)]
    theirs = leaves(x, w)
    for a, b in (mine, theirs):
        h = a * b
        first, second = (h * h).sum(), (h - a).relu().sum()
        for loss in (first, second, first):
            loss.backward(**({"retain_graph": True} if a is theirs[0] else {}))
    wanted = [np.asarray(leaf.grad) for leaf in theirs]
    assert_close([leaf.grad for leaf in mine], wanted, 1e-13, least=1)


def test_long_chains_and_many_paths(program: Program) -> None:
    x = program.Tensor(3.0, requires_grad=True)
    y = x
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.grad == 2.0**60
    z = x
    for _ in range(3000):
        z = z + x
    z.backward()
    assert x.grad == 2.0**60 + 3001


# What the text says.


def network(program: Any, *, skip: bool) -> tuple[Array, list[Array]]:
    """A network of six layers, of which the second and the fourth share a weight."""
    tensor = torch.tensor if program is torch else program.Tensor
    x, target, *weights = normal(0, (32, 8), (32, 8), *[(8, 8)] * (LAYERS - 1))
    own = [tensor(w * 0.3, requires_grad=True) for w in weights]
    layers = [own[0], own[1], own[2], own[1], own[3], own[4]]
    h = tensor(x)
    for w in layers:
        h = h + (h @ w).relu() if skip else (h @ w).relu()
    e = h - tensor(target)
    (e * e).sum().backward()
    out = np.asarray(h.detach() if program is torch else h.data)
    return out, [np.asarray(w.grad) for w in own]


def test_the_networks_of_the_prompt(starter: Program, reference: Program) -> None:
    for right in (True, False):
        out, grads = network(starter, skip=not right)
        for other in (torch, reference):
            want, wanted = network(other, skip=not right)
            np.testing.assert_allclose(out, want, rtol=0, atol=1e-12)
            close = [np.allclose(a, b, rtol=1e-11) for a, b in zip(grads, wanted, strict=True)]
            assert close == [right] * 4 + [True]
            if not right:
                assert np.linalg.norm(grads[0]) < np.linalg.norm(wanted[0]) / 3


def test_the_loss_of_the_prompt_falls(starter: Program) -> None:
    x, *weights = normal(1, (32, 8), *[(8, 8)] * LAYERS)
    own = [starter.Tensor(w * 0.3, requires_grad=True) for w in weights]
    losses = []
    for _ in range(60):
        h = starter.Tensor(x)
        for w in own:
            h = h + (h @ w).relu()
        e = h - starter.Tensor(np.sin(2 * x))
        loss = (e * e).sum() * starter.Tensor(1 / x.size)
        losses.append(float(loss.data))
        loss.backward()
        for w in own:
            w.data, w.grad = w.data - 0.02 * w.grad, None
    assert losses[59] < 0.2 * losses[0]


def test_the_polynomial_of_the_hint(starter: Program, reference: Program) -> None:
    for engine, wanted in ((starter, 81), (reference, 135)):
        x = engine.Tensor(3.0, requires_grad=True)
        a = x * x
        (a * (a + x)).backward()
        assert x.grad == wanted


def test_fourteen_doublings_have_so_many_paths() -> None:
    walks = variant("every-path")
    visits = 0
    inner = walks._unbroadcast

    def counted(*given: Any) -> Any:
        nonlocal visits
        visits += 1
        return inner(*given)

    walks.Tensor.backward.__globals__["_unbroadcast"] = counted
    x = walks.Tensor(1.0, requires_grad=True)
    y = x
    for _ in range(14):
        y = y + y
    y.backward()
    assert x.grad == 2**14 == 16384
    assert visits == 2 + 4 * (2**13 - 1)  # one for each edge of each path


def alive(program: Program, *, constant: bool) -> int:
    """How many of forty partial sums are alive when nobody holds any but the last."""
    y = program.Tensor(np.ones(3), requires_grad=not constant)
    partial = []
    for _ in range(40):
        y = y + program.Tensor(np.ones(3), requires_grad=not constant)
        partial.append(weakref.ref(y.data))
    return sum(data() is not None for data in partial)


def test_forty_partial_sums(starter: Program, reference: Program) -> None:
    for constant in (False, True):
        assert alive(starter, constant=constant) == 40
        assert alive(reference, constant=constant) == 1


def saved(make: Callable[[], Any]) -> list[tuple[int, ...]]:
    """The shapes of what torch saves for backward, each array once."""
    with saved_for_backward() as kept:
        result = make()
    assert result.requires_grad
    return sorted(tuple(tensor.shape) for tensor in kept.values())


def test_what_torch_keeps_as_the_follow_ups_say() -> None:
    a: Any
    b: Any
    y: Any
    a, b = (torch.randn(2, 3, requires_grad=True) for _ in range(2))
    assert saved(lambda: a + b) == []
    assert saved(lambda: a * b) == [(2, 3)] * 2
    assert saved(lambda: a * b.detach()) == [(2, 3)]
    for function in (torch.exp, torch.relu):
        y = function(a)
        assert torch.equal(y.grad_fn._saved_result, y)
    assert {type(f).__name__ for f, _ in (a + b).grad_fn.next_functions} == {"AccumulateGrad"}
    x, w, v = torch.randn(5, 4), torch.randn(4, 3), torch.randn(3, 2)
    w.requires_grad_()
    v.requires_grad_()
    # x, the result of relu and v; not w, and nothing of x @ w.
    assert saved(lambda: (x @ w).relu() @ v) == [(3, 2), (5, 3), (5, 4)]


def test_an_array_that_is_changed_after_forward(reference: Program) -> None:
    array = np.array([1.0, 2.0])
    x = reference.Tensor(array, requires_grad=True)
    y = (x * x).sum()
    array *= 10
    y.backward()
    np.testing.assert_array_equal(x.grad, [20, 40])  # and not 2 and 4


def test_what_torch_refuses_as_the_follow_ups_say() -> None:
    x: Any = torch.tensor(3.0, requires_grad=True)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad == 12
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward()
    y = (x + x).sum()
    y.backward()
    y.backward()
    assert x.grad == 16
    h = x * 1
    y = h * h
    h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    zero: Any = torch.tensor(0.0, requires_grad=True)
    zero.relu().backward()
    assert zero.grad == 0
