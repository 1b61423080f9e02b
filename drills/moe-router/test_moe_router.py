"""The layer of moe-router, against loops over tokens and experts, and torch's autograd in float64.

The oracle walks through requests as the contract tells it, one by one, and knows no sort, no
cumulative sum and no scatter. Bytes are counted by sending rows from device to device.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.harness import Program, each, variants

variant = variants(__file__)
# N, D, E and F; k; capacity: k = 1, k = E, one token, places for all, for some and for none
SIZES: list[tuple[tuple[int, ...], int, int | None]] = [
    ((7, 4, 5, 3), 2, None),
    ((8, 3, 6, 5), 3, 2),
    ((9, 2, 4, 2), 2, 3),
    ((6, 3, 3, 3), 1, 1),
    ((5, 2, 4, 3), 4, 4),
    ((1, 2, 3, 1), 2, 1),
]

# Some add 1e-9 to the sum that the p are divided by.
TINY_ADDED = 1e-7


def drawn(seed: int, sizes: tuple[int, ...]) -> list[Tensor]:
    """x, router and experts, and what arrives at y."""
    n, d, e, f = sizes
    rng = np.random.default_rng(seed)
    shapes = [(n, d), (d, e), (e, d, f), (n, f)]
    return [torch.tensor(rng.standard_normal(shape)) for shape in shapes]


def wanted_by(row: list[float], k: int) -> list[int]:
    """The experts of a token, one by one: the largest that is left, the first of equals."""
    left = dict(enumerate(row))
    found = []
    for _ in range(k):
        best = next(e for e in left if left[e] == max(left.values()))
        found.append(best)
        del left[best]
    return found


def oracle(
    x: Tensor, router: Tensor, experts: Tensor, k: int, capacity: int | None
) -> tuple[Tensor, Tensor]:
    count = len(experts)
    logits = x @ router
    p = logits.exp() / logits.exp().sum(1, keepdim=True)
    wanted = [wanted_by(row, k) for row in p.tolist()]
    room = dict.fromkeys(range(count), float("inf") if capacity is None else capacity)
    rows = [0 * experts[0, 0] for _ in x]
    for choice, n in itertools.product(range(k), range(len(x))):
        e = wanted[n][choice]
        if room[e] > 0:
            weight = p[n, e] / sum(p[n, one] for one in wanted[n])
            rows[n] = rows[n] + weight * (x[n] @ experts[e])
        room[e] -= 1
    asked = [sum(e in some for some in wanted) for e in range(count)]
    shares = [number / (len(x) * k) for number in asked]
    return torch.stack(rows), count * p.mean(0) @ torch.tensor(shares, dtype=torch.float64)


def results(
    layer: Any, given: list[Tensor], k: int, capacity: int | None, weight: float = 0.3
) -> list[Tensor]:
    """y and balance, and the gradients of both together."""
    *tensors, grad_y = (t.clone().requires_grad_() for t in given)
    y, balance = layer(*tensors, k, capacity)
    loss = (y * grad_y.detach()).sum() + weight * balance
    return [y, balance, *torch.autograd.grad(loss, tensors)]


def agree(mine: list[Tensor], theirs: list[Tensor], band: float = 1e-12) -> None:
    for found, right in zip(mine, theirs, strict=True):
        assert found.shape == right.shape
        assert (found - right).abs().max() <= band * max(1.0, float(right.detach().abs().max()))


@each(("sizes", "k", "capacity"), SIZES)
def test_results_and_gradients_are_those_of_requests_one_by_one(
    program: Program, sizes: tuple[int, ...], k: int, capacity: int | None
) -> None:
    given = drawn(1, sizes)
    mine, theirs = (results(layer, given, k, capacity) for layer in (program.moe, oracle))
    agree(mine, theirs, 1e-6)  # a share that was divided in float32 is off by 1e-8
    agree(mine[:1], theirs[:1], TINY_ADDED)


def test_the_reference_is_right_to_the_last_digits(reference: Program) -> None:
    for seed, (sizes, k, capacity) in enumerate(SIZES):
        given = drawn(seed, sizes)
        agree(results(reference.moe, given, k, capacity), results(oracle, given, k, capacity))


def test_ties_are_settled_by_the_lower_index(program: Program) -> None:
    rng = np.random.default_rng(2)
    for _ in range(5):
        x, router = (torch.tensor(rng.integers(-1, 2, s).astype(float)) for s in ((6, 3), (3, 5)))
        experts = drawn(3, (6, 3, 5, 2))[2]
        for capacity in (None, 2):
            mine, theirs = (f(x, router, experts, 3, capacity)[0] for f in (program.moe, oracle))
            agree([mine], [theirs], TINY_ADDED)


def test_no_places_is_nothing(program: Program) -> None:
    x, router, experts, _ = drawn(4, (5, 3, 4, 2))
    assert not program.moe(x, router, experts, 2, 0)[0].any()


@each("devices", [1, 2, 4])
def test_bytes_are_those_of_rows_that_are_sent(program: Program, devices: int) -> None:
    rng = np.random.default_rng(5)
    chosen = np.array([rng.choice(8, 3, replace=False) for _ in range(12)])
    mail: list[tuple[int, int, int]] = []  # token, from, to
    for n, some in enumerate(chosen):
        sender = next(d for d in range(devices) if n in np.array_split(np.arange(12), devices)[d])
        for e in some:
            held = (d for d in range(devices) if e in np.array_split(np.arange(8), devices)[d])
            mail.append((n, sender, next(held)))
    away = [one for one in mail if one[1] != one[2]]
    reserved = sum(5 * 8 // devices for _ in itertools.permutations(range(devices), 2))
    found = program.dispatch_bytes(torch.tensor(chosen), 8, devices, 7, 2, 5)
    assert found == {
        "per_choice": 14 * len(away),
        "per_device": 14 * len(set(away)),
        "padded": 14 * reserved,
    }


# What the text says.


def test_gradcheck_finds_nothing_in_the_starter(starter: Program) -> None:
    for sizes, k, _ in SIZES[:3]:
        given = [t.requires_grad_() for t in drawn(6, sizes)[:3]]
        assert torch.autograd.gradcheck(functools.partial(starter.moe, k=k), given)


def test_only_the_balancing_loss_moves_the_router_of_the_starter(starter: Program) -> None:
    x, router, experts, _ = (t.requires_grad_() for t in drawn(7, SIZES[0][0]))
    y, balance = starter.moe(x, router, experts, 2)
    assert torch.autograd.grad(y.sum(), router, allow_unused=True)[0] is None
    assert torch.autograd.grad(balance, router)[0].norm() > 0.01


def trained(layer: Any, *, router_learns: bool, seed: int) -> tuple[float, Tensor, Tensor]:
    """The loss at the end, the loads, and how far the router has moved; 4 kinds of tokens."""
    gen = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=gen, dtype=torch.float64)

    kinds, maps = normal(4, 6), normal(4, 6, 3)
    kind = torch.arange(256) % 4
    x = 2 * kinds[kind] + normal(256, 6)
    target = torch.einsum("nd,ndf->nf", x, maps[kind])
    begun = 0.1 * normal(6, 4)
    router, experts = begun.clone().requires_grad_(), (0.3 * normal(4, 6, 3)).requires_grad_()
    learned = [router, experts] if router_learns else [experts]
    optimizer = torch.optim.Adam(learned, lr=0.02)
    for _ in range(200):
        y, balance = layer(x, router, experts, 2)
        loss = (y - target).square().mean()
        optimizer.zero_grad()
        (loss + 0.1 * balance).backward()
        optimizer.step()
    loads = torch.bincount((x @ router).topk(2).indices.flatten(), minlength=4) / 512
    return loss.item(), loads, (router - begun).detach().norm()


def test_a_router_that_never_learns_does_as_well(starter: Program, reference: Program) -> None:
    ends: dict[tuple[str, bool], list[float]] = {}
    for seed in range(2):
        for name, program in (("starter", starter), ("reference", reference)):
            for learns in (True, False):
                end, loads, moved = trained(program.moe, router_learns=learns, seed=seed)
                ends.setdefault((name, learns), []).append(end)
                if name == "starter" and learns:
                    assert loads.min() > 0.1  # all experts are busy
                    assert moved > 0.1
    mean = {key: float(np.mean(some)) for key, some in ends.items()}
    assert mean["starter", True] > 0.8 * mean["starter", False], mean
    assert mean["reference", True] < 0.5 * mean["reference", False], mean


def test_with_one_expert_the_output_teaches_the_router_nothing(reference: Program) -> None:
    x, router, experts, _ = (t.requires_grad_() for t in drawn(8, (6, 3, 4, 2)))
    y, _ = reference.moe(x, router, experts, 1)
    assert torch.autograd.grad(y.square().sum(), router)[0].abs().max() < 1e-14


def test_balance_is_1_at_an_even_load_and_may_be_smaller(reference: Program) -> None:
    experts = torch.zeros(2, 2, 1, dtype=torch.float64)
    even = torch.eye(2, dtype=torch.float64)
    assert reference.moe(even, 5 * even, experts, 1)[1].item() == pytest.approx(1, abs=1e-12)
    # Two of three tokens prefer expert 0 a little, the third one expert 1 by far.
    x = torch.tensor([[0.1], [0.1], [-9.0]], dtype=torch.float64)
    router = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    assert reference.moe(x, router, experts[:, :1], 1)[1].item() < 0.91


def test_figures_of_the_follow_ups() -> None:
    assert 4096 * 2 / 64 == 128
    devices = 8 * (1 - np.prod([(224 - i) / (256 - i) for i in range(8)]))
    assert round(devices, 1) == 5.3
    assert round(1 - devices / 8, 2) == 0.34
