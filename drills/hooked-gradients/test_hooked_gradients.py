"""The reference and every right solution of hooked-gradients, against training in one process.

The oracle has one model and no ranks: the mean over all rows of all ranks, its gradient by
torch.autograd.grad, and the update written out.  A ring is counted message by message.
"""

from __future__ import annotations

import copy
import itertools
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.harness import Program, each, variants

variant = variants(__file__)
CLOSE = 1e-12
Shape = tuple[int, int, int, int]  # steps, ranks, micro-batches, rows


def drawn(seed: int, *shapes: tuple[int, ...]) -> list[Tensor]:
    numbers = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=numbers, dtype=torch.float64) for shape in shapes]


def data(seed: int, shape: Shape, inputs: int = 5, outputs: int = 3) -> tuple[Tensor, Tensor]:
    x, y = drawn(seed, (*shape, inputs), (*shape, outputs))
    return x, y


CHAIN = [0.4 * w for w in drawn(0, (7, 5), (6, 7), (3, 6))]
TIED = [0.4 * w for w in drawn(1, (5, 5), (5, 5), (3, 5))]
EXPERTS = [0.4 * w for w in drawn(2, (5, 5), (3, 5, 5))]


def one_process(
    cluster: Any, model: torch.nn.Module, decay: float = 0.0, momentum: float = 0.0
) -> Tensor:
    """The weights after all steps of one model that sees every row."""
    params = list(model.parameters())
    velocity: list[Any] = [None] * len(params)
    for x, y in zip(cluster.x, cluster.y, strict=True):
        losses = []
        for r, m in itertools.product(*map(range, x.shape[:2])):
            rows = x.shape[2] if cluster.rows is None else int(cluster.rows[r][m])
            losses.append((rows, cluster.loss_fn(model, x[r, m, :rows], y[r, m, :rows])))
        total = sum(rows for rows, _ in losses)
        loss: Any = sum(rows * one for rows, one in losses) / total
        grads = torch.autograd.grad(loss, params, allow_unused=True)
        with torch.no_grad():
            for k, (p, g) in enumerate(zip(params, grads, strict=True)):
                if g is not None:
                    g = g + decay * p
                    velocity[k] = g if velocity[k] is None else momentum * velocity[k] + g
                    p.sub_(0.1 * velocity[k])
    return torch.cat([p.detach().reshape(-1) for p in params])


def agrees(
    program: Program, driver: Program, made: tuple[Any, ...], bucket_bytes: int, *slow: float
) -> SimpleNamespace:
    """Train, compare with one process, and return what the driver has seen."""
    replicas, all_reduce, cluster = made
    single = copy.deepcopy(replicas[0])
    reducer = driver.reducer(program, replicas, all_reduce, bucket_bytes)
    weights, logs, unused = driver.watch(program, cluster, reducer)
    equal = driver.equal(weights)
    sizes, early = driver.buckets(logs)
    wanted = one_process(cluster, single, *slow)
    assert equal
    assert (weights - wanted).abs().max() < CLOSE
    return SimpleNamespace(weights=weights, sizes=sizes, early=early, unused=unused)


@each("shape", [(2, 3, 4, 4), (1, 1, 1, 1), (3, 2, 1, 5), (2, 1, 4, 3), (2, 5, 2, 2)])
def test_the_steps_are_those_of_one_process(
    program: Program, driver: Program, shape: Shape
) -> None:
    for bucket_bytes in (1, 144, 145, 350, 480, 481, 10_000):
        seen = agrees(program, driver, driver.chain(None, *CHAIN, *data(3, shape)), bucket_bytes)
        wanted: list[int] = []
        held = bucket_bytes
        for size in (144, 336, 280):
            if held >= bucket_bytes:
                wanted.append(0)
                held = 0
            wanted[-1] += size
            held += size
        assert seen.sizes == [sorted(wanted)] * shape[0]
        assert all(all(one) for one in seen.early)


def test_a_weight_that_is_used_twice(program: Program, driver: Program) -> None:
    for bucket_bytes in (1, 120, 300, 1000):
        made = driver.tied(None, *TIED, *data(4, (3, 3, 2, 4)))
        seen = agrees(program, driver, made, bucket_bytes, 0.0, 0.9)
        assert [sum(sizes) for sizes in seen.sizes] == [520] * 3


def test_experts_that_some_or_no_ranks_use(program: Program, driver: Program) -> None:
    numbers = torch.Generator().manual_seed(5)
    for bucket_bytes, most in itertools.product((1, 200, 300, 1000), (1, 2, 3)):
        route = torch.randint(0, most, (4, 3, 2, 2), generator=numbers)
        made = driver.experts(None, *EXPERTS, route, *data(6, (4, 3, 2, 2), 5, 5))
        seen = agrees(program, driver, made, bucket_bytes, 0.05, 0.9)
        for k, unused in enumerate(seen.unused):
            taken = set(route[k // 3].flatten().tolist())
            assert unused == [False, *(e not in taken for e in range(3))]


@each("loss", ["plain", "penalty", "measured"])
def test_rows_count_alike_whatever_loss_fn_computes(
    program: Program, driver: Program, loss: str
) -> None:
    for rows in (None, [[4, 4, 4, 1], [3, 4, 2, 2], [1, 1, 4, 4]], [[4] * 4, [1] * 4, [2] * 4]):
        made = driver.chain(None, *CHAIN, *data(7, (2, 3, 4, 4)), loss, rows)
        assert agrees(program, driver, made, 350).sizes == [[280, 480]] * 2


def by_messages(
    nbytes: list[int], ready: list[float], least: int, ranks: int, rate: float, latency: float
) -> tuple[float, float]:
    """Bytes and waiting of a rank that sends one message after the other."""
    buckets: list[list[int]] = [[]]
    for i, size in enumerate(nbytes):
        if sum(nbytes[j] for j in buckets[-1]) >= least:
            buckets.append([])
        buckets[-1].append(i)
        assert size > 0
    clock, sent = 0.0, 0.0
    for bucket in buckets:
        full = sum(nbytes[i] for i in bucket)
        clock = max(clock, *(ready[i] for i in bucket))
        for _ in range(2 * (ranks - 1)):
            clock += latency + full / ranks / rate
            sent += full / ranks
    return sent, clock - ready[-1]


FIVE = [300, 100, 200, 400, 50]


@each(
    ("ready", "least", "ranks", "found"),
    [
        ([1.0, 2.0, 3.0, 4.0, 5.0], 350, 4, (1575, 1.5575)),
        ([0.1, 0.2, 0.3, 0.4, 0.5], 350, 4, (1575, 3.8175)),
        ([1.0, 2.0, 3.0, 4.0, 5.0], 350, 1, (0, 0)),
        ([1.0, 2.0, 3.0, 4.0, 5.0], 600, 3, None),
        ([0.0, 0.0, 0.0, 4.0, 4.0], 601, 3, None),
        ([0.0, 0.1, 0.2, 0.3, 9.0], 1, 2, None),
    ],
)
def test_cost_is_that_of_single_messages(
    program: Program, ready: list[float], least: int, ranks: int, found: tuple[float, float] | None
) -> None:
    given = FIVE, ready, least, ranks, 400, 0.01
    wanted = by_messages(*given)
    assert program.cost(*given) == pytest.approx(wanted, abs=1e-12)
    assert found is None or wanted == pytest.approx(found, abs=1e-12)
    two = [8_000_000, 4_000_000, 6_000_000], [0.001, 0.002, 0.003], 10_000_000, 2, 1e10, 1e-5
    assert program.cost(*two) == pytest.approx((18e6, 8.4e-4), rel=1e-9)


# What the text says.


def off(program: Program, driver: Program, shape: Shape) -> tuple[float, bool, list[int]]:
    """How far weights are off from one process, whether they are equal, and bytes per step."""
    replicas, all_reduce, cluster = driver.chain(None, *CHAIN, *data(8, shape))
    single = driver.Chain(*CHAIN)
    weights, sent = driver.train(program, cluster, program.Reducer(replicas, all_reduce))
    equal = driver.equal(weights)
    wanted = one_process(cluster, single)
    return float((weights - wanted).abs().max() / wanted.abs().max()), equal, sent


def test_what_a_colleague_compared_is_right_in_the_starter(
    starter: Program, driver: Program
) -> None:
    for shape in ((2, 3, 1, 4), (2, 1, 4, 4)):
        far, equal, _ = off(starter, driver, shape)
        assert far < 1e-15
        assert equal
    far, equal, sent = off(starter, driver, (2, 3, 4, 4))
    assert far > 0.01
    assert not equal
    assert sent == [760, 760]


def test_the_loss_of_every_rank_falls_and_the_ranks_differ(
    starter: Program, driver: Program
) -> None:
    x, y = data(9, (200, 3, 4, 4))
    _, _, cluster = made = driver.chain(None, *CHAIN, x, y)
    held_x, held_y = (t[0, 0, 0] for t in data(10, (1, 1, 1, 64)))

    def losses() -> list[float]:
        return [cluster.loss_fn(model, held_x, held_y).item() for model in cluster.replicas]

    before = losses()
    driver.train(starter, cluster, starter.Reducer(*made[:2]))
    after = losses()
    assert all(a < b - 0.1 for a, b in zip(after, before, strict=True))
    assert len({round(loss, 3) for loss in after}) == 3


def test_only_traffic_shows_an_exchange_per_micro_batch(driver: Program) -> None:
    far, equal, sent = off(variant("exchange-per-micro-batch"), driver, (2, 3, 4, 4))
    assert far < 1e-15
    assert equal
    assert sent == [4 * 760] * 2


def test_hooks_fire_as_the_follow_up_says() -> None:
    w: Any = torch.tensor(2.0, requires_grad=True)
    seen: list[Any] = []
    w.register_hook(lambda g: seen.append(g.item()))
    w.register_post_accumulate_grad_hook(lambda _: seen.append("accumulated"))
    (w + 2 * w + 3 * w + 4 * w).backward()
    assert seen == [10.0, "accumulated"]
    seen.clear()
    torch.autograd.grad(w + 2 * w, w)
    assert seen == [3.0]


@pytest.mark.filterwarnings("ignore:Using backward")
def test_backward_in_loss_fn_leaves_its_gradient() -> None:
    w: Any = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(w**3, w, create_graph=True)
    assert float(torch.autograd.grad(w**3 + 0.1 * slope**2, w)[0]) == pytest.approx(40.8)
    (w**3).backward(create_graph=True)
    slope = w.grad.clone()
    (w**3 + 0.1 * slope**2).backward()
    assert w.grad.item() == pytest.approx(52.8)


def test_bytes_and_seconds_of_seven_billion_weights(reference: Program) -> None:
    given = [14_000_000_000], [0.0], 1, 8, 50e9, 0.0
    sent, waits = reference.cost(*given)
    assert (sent, waits) == (pytest.approx(24.5e9), pytest.approx(0.49))
    assert (4 * sent, 4 * waits) == (pytest.approx(98e9), pytest.approx(1.96))
