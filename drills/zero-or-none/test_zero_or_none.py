"""The reference against autograd and finite differences, and every figure that is quoted."""

from __future__ import annotations

import importlib
import itertools
import math
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from grader.explain.session import GradingSession
from tests import corpus
from tests.harness import Array, Program, each, load_text, variants

variant = variants(__file__)
FAULTS = ("frozen", "cut", "stale", "saturated", "dead")
STARTER = Path(__file__).with_name("starter.py").read_text()


@pytest.fixture(scope="module")
def readings() -> ModuleType:
    return importlib.import_module("readings")


def sigma(a: Array) -> Array:
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def logits(p: dict[str, Array], x: Array, c: Array) -> Array:
    """What the net computes, in numpy, from its parameters by name."""

    def linear(of: Array, name: str) -> Array:
        return np.asarray(of @ p[f"{name}.weight"].T + p[f"{name}.bias"])

    h = np.tanh(linear(x, "trunk"))
    h = h + linear(h, "trunk_adapter") + linear(c, "context")
    weights = sigma(linear(h, "gate"))
    hidden = [np.maximum(linear(h, f"experts.{k}.0"), 0) for k in range(3)]
    mixed = sum(weights[:, [k]] * linear(hidden[k], f"experts.{k}.2") for k in range(3))
    return linear(np.asarray(mixed), "head")


def loss_of(p: dict[str, Array], x: Array, c: Array, y: Array) -> float:
    return float(-np.log(sigma(logits(p, x, c))[np.arange(len(y)), y]).mean())


def test_gradients_are_the_slopes_of_a_loss_in_numpy(
    program: Program, readings: ModuleType
) -> None:
    net, _ = program.build(3)
    net.double()
    x, c, y = readings.batch(9)
    x, c = x.double(), c.double()
    loss: Any = F.cross_entropy(net(x, c), y)
    loss.backward()
    p = {name: value.detach().numpy().copy() for name, value in net.named_parameters()}
    given = x.numpy(), c.numpy(), y.numpy()
    assert loss.item() == pytest.approx(loss_of(p, *given), rel=1e-12)
    for name, value in net.named_parameters():
        if name.startswith("trunk."):
            continue
        at = int(np.abs(value.grad.numpy()).argmax())
        ends = []
        for sign in (1, -1):
            p[name].flat[at] += sign * 1e-5
            ends.append(loss_of(p, *given))
            p[name].flat[at] -= sign * 1e-5
        slope = value.grad.flatten()[at].item()
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6), name


def run(program: Program, readings: ModuleType, steps: int) -> tuple[Any, Any, list[float]]:
    net, opt = program.build()
    losses = [program.step(net, opt, *readings.batch(seed=i)) for i in range(steps)]
    return net, opt, [float(loss) for loss in losses]


def test_the_run_that_is_told_of_and_the_one_that_is_repaired(
    starter: Program, reference: Program, readings: ModuleType
) -> None:
    net, _, losses = run(starter, readings, 300)
    assert np.mean(losses[-20:]) == pytest.approx(1.60, abs=0.015)
    assert math.log(5) == pytest.approx(1.61, abs=0.005)
    norms = {n: 0.0 if p.grad is None else p.grad.norm().item() for n, p in net.named_parameters()}
    assert len(norms) == 22
    assert list(norms.values()).count(0.0) == 19
    assert norms["head.bias"] == pytest.approx(12.86, abs=0.01)
    assert norms["experts.0.2.bias"] == pytest.approx(0.07, abs=0.005)
    assert norms.keys() - {n for n, norm in norms.items() if norm == 0} == {
        "experts.0.2.bias", "head.weight", "head.bias",
    }  # fmt: skip
    _, _, repaired = run(reference, readings, 300)
    assert np.mean(repaired[-20:]) < 0.95


def moved(repairs: set[str], readings: ModuleType) -> set[str]:
    """The parameters that three steps move, after some of the five repairs."""
    text = {
        "frozen": ('startswith("trunk")', 'startswith("trunk.")'),
        "cut": ("with torch.no_grad():\n            room", "if True:\n            room"),
        "stale": ("net = Net()", "net = Net(5)"),
        "saturated": ("torch.tensor([200.0, 0.0, 0.0])", "torch.zeros(3)"),
        "dead": ("expert[0].bias.fill_(-6.0)", "pass"),
    }
    source = STARTER
    for name in repairs:
        assert text[name][0] in source
        source = source.replace(*text[name])
        if name == "stale":
            source = source.replace("    net.head = nn.Linear(16, 5)\n", "")
    program = load_text(source)
    net, opt = program.build()
    before = {name: p.detach().clone() for name, p in net.named_parameters()}
    for i in range(3):
        program.step(net, opt, *readings.batch(seed=i))
    return {name for name, p in net.named_parameters() if not torch.equal(p, before[name])}


def test_what_moves_after_some_of_the_repairs(readings: ModuleType) -> None:
    found = {
        frozenset(some): moved(set(some), readings)
        for n in range(6)
        for some in itertools.combinations(FAULTS, n)
    }
    assert found[frozenset()] == {"experts.0.2.bias"}
    zeros = found[frozenset({"saturated", "dead"})]
    assert len(zeros) == 14  # a follow-up
    assert {name.split(".")[0] for name in zeros} == {"gate", "experts"}
    every = found[frozenset(FAULTS)]
    assert len(every) == 20
    # Each fault is one: the four other repairs do not move all that is to learn.
    for fault in FAULTS:
        assert found[frozenset(FAULTS) - {fault}] < every, fault


def test_innocent_causes_are_cleared_by_their_experiments(
    starter: Program, readings: ModuleType
) -> None:
    x, c, y = readings.batch()
    net, opt = starter.build()
    called = []
    for name, module in net.named_modules():
        module.register_forward_hook(lambda *_, name=name: called.append(name))
    loss: Any = F.cross_entropy(net(x, c), y)
    loss.backward()
    assert {name for name, _ in net.named_modules()} - set(called) == {"experts"}  # a list
    assert net.experts[0][2].bias.grad.norm() > 0.01
    assert not net.experts[0][2].weight.grad.any()
    before = net.experts[0][2].bias.detach().clone()
    opt.step()
    assert not torch.equal(net.experts[0][2].bias, before)
    for group in opt.param_groups:
        group["lr"] = 10.0
    kept = {name: p.detach().clone() for name, p in net.named_parameters()}
    starter.step(net, opt, x, c, y)
    assert [n for n, p in net.named_parameters() if not torch.equal(p, kept[n])] == [
        "experts.0.2.bias"
    ]


def test_a_start_is_far_from_the_bars(reference: Program) -> None:
    for seed in range(20):
        net, _ = reference.build(seed)
        rng = torch.Generator().manual_seed(seed)
        x, c = torch.randn(200, 12, generator=rng), torch.randn(200, 4, generator=rng)
        with torch.no_grad():
            h = torch.tanh(net.trunk(x))
            h = h + net.trunk_adapter(h) + net.context(c)
            assert torch.softmax(net.gate(h), 1).mean(0).min() > 0.15
            for expert in net.experts:
                assert not (expert[0](h) <= 0).all(dim=0).any()


def test_a_word_for_each_kind_of_parameter(program: Program) -> None:
    net = nn.ModuleDict(
        {name: nn.Linear(3, 3) for name in ("still", "cut", "dead", "behind", "on")}
    )
    net["still"].requires_grad_(False)
    h = net["still"](torch.randn(5, 3)) + net["cut"](torch.randn(5, 3)).detach()
    y = net["behind"](F.relu(net["dead"](h) - 100)) + net["on"](h)
    found = program.report(net, y.square().sum())
    words = [found[f"{name}.{kind}"] for name in net for kind in ("weight", "bias")]
    assert words == ["frozen"] * 2 + ["none"] * 2 + ["zero"] * 2 + ["zero", "ok"] + ["ok"] * 2


def test_idle_units_are_counted_over_everything_at_once(program: Program) -> None:
    torch.manual_seed(0)
    first = nn.Linear(3, 40)
    nn.init.constant_(first.bias, -1.2)
    net = nn.Sequential(first, nn.ReLU())
    batches = [(torch.randn(2, 3, 3),) for _ in range(4)]
    rows = torch.cat([net(*batch).reshape(-1, 40) for batch in batches])
    wanted = (rows == 0).all(dim=0).double().mean().item()
    assert 0.1 < wanted < 0.9
    assert program.idle_units(net, batches)["1"] == pytest.approx(wanted, abs=1e-6)


def test_half_of_the_outputs_of_a_relu_are_0_in_a_net_that_is_well(
    reference: Program, readings: ModuleType
) -> None:
    net, _ = reference.build()
    x, c, _ = readings.batch(2000)
    h = torch.tanh(net.trunk(x))
    h = h + net.trunk_adapter(h) + net.context(c)
    shares = [(expert[0](h) <= 0).double().mean().item() for expert in net.experts]
    assert np.mean(shares) == pytest.approx(0.5, abs=0.1)
    assert set(reference.idle_units(net, [(x, c)]).values()) == {0.0}
    by_row = variant("idle-by-row").idle_units(net, [(x, c)]).values()
    assert np.mean(list(by_row)) == pytest.approx(np.mean(shares), abs=1e-6)


def one_step(kind: type, grads: list[Tensor | None], **settings: float) -> float:
    weight = nn.Parameter(torch.ones(1, dtype=torch.float64))
    opt = kind([weight], lr=0.1, **settings)
    for grad in grads:
        weight.grad = grad
        opt.step()
    return weight.item()


def test_what_optimizers_make_of_zero_and_of_none() -> None:
    zero, one = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    decayed = one_step(torch.optim.AdamW, [zero], weight_decay=0.1)
    assert decayed == pytest.approx(0.99, abs=1e-12)
    assert one_step(torch.optim.AdamW, [None], weight_decay=0.1) == 1.0
    assert one_step(torch.optim.SGD, [one, zero], momentum=0.9) == pytest.approx(0.81)
    assert one_step(torch.optim.SGD, [one, None], momentum=0.9) == pytest.approx(0.9)


def test_norms_in_float32_underflow_and_overflow() -> None:
    assert torch.full((3,), 1e-30).norm() == 0
    assert torch.full((3,), 1e30).norm() == math.inf
    assert torch.tensor(1e-45) > 0
    assert torch.tensor(1e-46) == 0


@each(("gap", "zero"), [(100.0, False), (104.0, True), (200.0, True)])
def test_where_the_slope_of_a_softmax_is_exactly_0(gap: float, zero: bool) -> None:
    z = torch.tensor([0.0, gap], requires_grad=True)
    (slope,) = torch.autograd.grad(torch.softmax(z, 0)[0], z)
    assert (not slope.any()) is zero


def test_the_gradient_of_a_fused_loss_does_not_vanish_for_a_wrong_class() -> None:
    z = torch.tensor([[0.0, 200.0]], requires_grad=True)
    (grad,) = torch.autograd.grad(F.cross_entropy(z, torch.tensor([0])), z)
    assert grad.tolist() == [[-1.0, 1.0]]


@each(
    ("wrong", "sentence"),
    [
        ("one_mode_for_all_modules", r"training\['linear'\] is False, expected True"),
        ("removes_hooks_of_others", r"hooks\['relu'\] is \d+, expected \d+"),
        ("leaves_recording_off", r"recording\['after the call'\] is False, expected True"),
    ],
)
def test_what_a_call_leaves_behind_is_named(
    session: GradingSession, wrong: str, sentence: str
) -> None:
    report = session.grade(corpus.wrong_programs("zero-or-none")[wrong].source, seed=3)
    (afterwards,) = [check for check in report.checks if check.id == "afterwards"]
    assert re.search(sentence, afterwards.message)
