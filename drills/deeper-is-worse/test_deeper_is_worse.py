"""The tower against autograd, the reports against exact products, and every figure quoted."""

from __future__ import annotations

import importlib
import itertools
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.harness import (
    Array,
    Program,
    by_autograd,
    each,
    load_text,
    normal,
    question_of,
    variants,
)

variant = variants(__file__)
STARTER = Path(__file__).with_name("starter.py").read_text()
REPAIRS = {
    "fan": [("np.sqrt(columns)", "np.sqrt(rows)")],
    "scale": [("HIDDEN, depth**-0.5", "HIDDEN, 1.0"), ("WIDTH, 2**0.5", "WIDTH, (2 / depth)**0.5")],
    "zeros": [("np.array(0.0)", "np.array(1.0)")],
}


@pytest.fixture(scope="module")
def tower() -> ModuleType:
    return importlib.import_module("tower")


def repaired(*faults: str) -> Program:
    """The starter with some of its faults repaired."""
    text = STARTER
    for old, new in itertools.chain.from_iterable(REPAIRS[name] for name in faults):
        assert old in text
        text = text.replace(old, new)
    return load_text(text)


def test_gradients_of_the_tower_are_those_of_autograd(tower: ModuleType) -> None:
    import torch
    import torch.nn.functional as F

    x, y = tower.rows(3, 11)
    shapes = [(8, 16), (16, 4), (16, 64), (64, 16), (16, 64), (64, 16)]
    w_in, w_out, *matrices = [0.3 * a for a in normal(4, *shapes)]
    gains = [np.array(0.7), np.array(-1.3)]
    blocks = [{"u": matrices[2 * i], "v": matrices[2 * i + 1], "gain": gains[i]} for i in range(2)]

    def loss(*given: Any) -> Any:
        h = torch.tensor(x) @ given[0]
        for u, v, gain in (given[2:5], given[5:8]):
            z = h @ u
            n = z / torch.sqrt((z**2).mean(dim=1, keepdim=True) + 1e-12)
            h = h + gain * (n.relu() @ v)
        return F.cross_entropy(h @ given[1], torch.tensor(y))

    flat = [blocks[i][name] for i in range(2) for name in ("u", "v", "gain")]
    wanted = by_autograd(loss, w_in, w_out, *flat)
    value, grads = tower.loss_and_grads({"w_in": w_in, "w_out": w_out, "blocks": blocks}, x, y)
    found = [value, grads["w_in"], grads["w_out"]]
    found += [block[name] for block in grads["blocks"] for name in ("u", "v", "gain")]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def trained(program: Program, depth: int, tower: ModuleType) -> float:
    """The held-out loss of a tower after 150 steps."""
    params = program.init(depth, np.random.default_rng(0))
    return float(tower.loss_and_grads(fit(program, params, tower), *tower.rows(9999, 1000))[0])


def fit(program: Program, params: Any, tower: ModuleType, first: int = 0) -> Any:
    for i in range(first, first + 150):
        params, _ = program.step(params, *tower.rows(i, 64))
    return params


def held_out(params: Any, tower: ModuleType) -> float:
    return float(tower.loss_and_grads(params, *tower.rows(9999, 1000))[0])


def test_the_runs_that_are_told_of(starter: Program, tower: ModuleType) -> None:
    ends = [trained(starter, depth, tower) for depth in (4, 32)]
    assert ends[0] == pytest.approx(0.25, abs=0.005)
    assert ends[1] > 0.5  # 0.57 with one BLAS, 0.70 with another: it does not settle
    first = held_out(starter.init(32, np.random.default_rng(0)), tower)
    assert first == pytest.approx(18, abs=0.5)
    params = fit(starter, starter.init(4, np.random.default_rng(0)), tower)
    grown = starter.grow(params, 4, np.random.default_rng(1))
    assert held_out(params, tower) == held_out(grown, tower) == pytest.approx(0.2467, abs=5e-5)
    after = [fit(starter, one, tower, 150) for one in (params, grown)]
    assert held_out(after[0], tower) == held_out(after[1], tower)
    assert held_out(after[0], tower) == pytest.approx(0.2009, abs=5e-5)
    for block in after[1]["blocks"][4:]:
        assert not block["v"].any()
        assert block["gain"] == 0


def test_deeper_is_better_when_both_are_repaired(tower: ModuleType) -> None:
    program = repaired("fan", "scale")
    assert trained(program, 32, tower) < 0.3 < trained(program, 4, tower)


def test_innocent_causes_are_cleared_by_their_experiments(
    starter: Program, tower: ModuleType
) -> None:
    x, y = tower.rows(1, 64)
    first = [
        tower.loss_and_grads(starter.init(depth, np.random.default_rng(0)), x, y)[0]
        for depth in (4, 32)
    ]
    assert first[1] > 3 * first[0]
    params = starter.init(32, np.random.default_rng(0))
    _, grads = tower.loss_and_grads(params, x, y)
    ends = [np.linalg.norm(grads["blocks"][i]["v"]) for i in (0, 31)]
    assert min(ends) > 0.5
    for block in params["blocks"]:
        block["v"] = np.zeros((64, 16))
    np.testing.assert_array_equal(tower.forward(params, x), x @ params["w_in"] @ params["w_out"])
    few = starter.init(3, np.random.default_rng(0))
    new = starter.grow(few, 1, np.random.default_rng(1))
    moved = {**new, "blocks": new["blocks"][-1:] + new["blocks"][:-1]}
    np.testing.assert_array_equal(tower.forward(moved, x), tower.forward(few, x))


def shares(program: Program, depth: int, tower: ModuleType) -> list[float]:
    """The mean square of what each block adds, times the depth."""
    found = []
    for seed in range(4):
        params = program.init(depth, np.random.default_rng(seed))
        h = normal((2, seed), (300, 8))[0] @ params["w_in"]
        for block in params["blocks"]:
            more = tower.branch(block, h)
            found.append(depth * float(np.mean(more**2)))
            h = h + more
    return found


def test_shares_of_right_towers_are_far_from_the_bars(program: Program, tower: ModuleType) -> None:
    for depth in (1, 10, 60):
        assert min(shares(program, depth, tower)) > 0.2
        assert max(shares(program, depth, tower)) < 2.5


def test_what_a_norm_does_to_a_factor(starter: Program, tower: ModuleType) -> None:
    """A factor on u changes nothing; with each fault the shares are what the feedback says."""
    block = starter.init(1, np.random.default_rng(0))["blocks"][0]
    (h,) = normal(1, (50, 16))
    smaller = {**block, "u": block["u"] * 0.01}
    np.testing.assert_allclose(tower.branch(smaller, h), tower.branch(block, h), rtol=1e-6)
    full = shares(variant("full-size-at-any-depth"), 32, tower)
    assert np.mean(full) == pytest.approx(32, rel=0.1)
    assert np.mean(shares(variant("fan-out"), 32, tower)) == pytest.approx(4, rel=0.1)
    assert np.mean(shares(variant("fourth-root"), 100, tower)) == pytest.approx(10, rel=0.1)


def test_the_size_at_the_end_of_a_tower(reference: Program, tower: ModuleType) -> None:
    """Roots of 33 and of 2 for 32 blocks: mean squares add up, but for how they were drawn."""
    found = []
    for program in (variant("full-size-at-any-depth"), reference):
        ends = []
        for seed in range(8):
            params = program.init(32, np.random.default_rng(seed))
            h = normal((2, seed), (300, 8))[0] @ params["w_in"]
            for block in params["blocks"]:
                h = h + tower.branch(block, h)
            ends.append(np.mean(h**2))
        found.append(np.sqrt(np.mean(ends)))
    np.testing.assert_allclose(found, [5.74, 2**0.5], rtol=0.1)


def test_which_new_blocks_learn(tower: ModuleType, starter: Program) -> None:
    """A follow-up has four ways to begin."""
    x, y = tower.rows(0, 64)
    params = starter.init(3, np.random.default_rng(0))
    logits = tower.forward(params, x)
    rng = np.random.default_rng(1)
    u, v = rng.standard_normal((16, 64)) / 4, rng.standard_normal((64, 16)) / 8
    ways = {
        "gain": {"u": u, "v": v, "gain": np.array(0.0)},
        "both": {"u": u, "v": np.zeros_like(v), "gain": np.array(0.0)},
        "small": {"u": u, "v": v, "gain": np.array(1e-4)},
        "u": {"u": np.zeros_like(u), "v": v, "gain": np.array(1.0)},
    }
    nothing, learns = {}, {}
    for name, block in ways.items():
        grown = {**params, "blocks": [*params["blocks"], block]}
        nothing[name] = bool(np.array_equal(tower.forward(grown, x), logits))
        _, grads = tower.loss_and_grads(grown, x, y)
        learns[name] = any(np.any(g) for g in grads["blocks"][-1].values())
    assert nothing == {"gain": True, "both": True, "small": False, "u": True}
    assert learns == {"gain": True, "both": False, "small": True, "u": False}


def chain(jacobians: Array, h: Array) -> Array:
    """Linear blocks, whose derivative is the product that is asked for."""
    for j in jacobians:
        h = h + j @ h
    return h


def test_what_arrives_is_what_autograd_says(program: Program) -> None:
    import torch

    jacobians, h, grad = normal(5, (4, 3, 3), (3,), (3,))
    stream = [torch.tensor(h, requires_grad=True)]
    for j in torch.tensor(jacobians):
        stream.append(stream[-1] + j @ stream[-1])
    wanted = torch.autograd.grad(stream[-1] @ torch.tensor(grad), stream)
    found = program.arriving(jacobians, grad)
    np.testing.assert_allclose(found, np.stack([g.numpy() for g in wanted]), rtol=1e-12)
    columns = [chain(jacobians, e) for e in np.eye(3)]
    np.testing.assert_allclose(program.whole(jacobians, 3), np.stack(columns, axis=1), rtol=1e-12)


def test_a_product_of_residual_factors_can_vanish_and_explode(reference: Program) -> None:
    for size, wanted in ((-0.2, 1.427e-5), (0.2, 9100)):
        jacobians = np.full((50, 1, 1), size)
        assert reference.arriving(jacobians, np.ones(1))[0, 0] == pytest.approx(wanted, rel=1e-3)


def drawn(seed: int, widths: list[int], k: list[float]) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [
        rng.standard_normal((a, b)) * np.sqrt(2 / a) * one
        for a, b, one in zip(widths, widths[1:], k, strict=False)
    ]


@each("seed", range(4))
def test_the_odd_layer_is_found(program: Program, seed: int) -> None:
    widths = [30, 90, 25, 60, 200, 40, 40]
    for at, ratio, common in ((2, 0.01, 1.0), (0, 8.0, 0.3), (5, 0.14, 5.0)):
        k = [common] * 6
        k[at] *= ratio
        layer, found, others = program.odd_layer(drawn(seed, widths, k))
        assert layer == at
        assert found == pytest.approx(ratio, rel=0.1)
        assert others == pytest.approx(common, rel=0.1)
    layer, found, others = program.odd_layer(drawn(seed, widths, [0.2] * 6))
    assert layer is None
    assert (found, others) == (1, pytest.approx(0.2, rel=0.1))


def inputs(cases: dict[str, Any], name: str) -> dict[str, Any]:
    """What a case gives, with what it takes from the case that it extends."""
    case = cases[name]
    return {**(inputs(cases, case["extends"]) if "extends" in case else {}), **case}


def test_layers_are_as_large_as_the_contract_says() -> None:
    cases = question_of(__file__).spec.cases
    chains = [one for name in cases if "widths" in (one := inputs(cases, name))]
    assert len(chains) == 14
    for one in chains:
        widths = one["widths"]["array"]
        sizes = [a * b for a, b in itertools.pairwise(widths)]
        assert min(widths[:-1]) >= 20
        assert min(sizes[:-1]) >= 1000
        assert sizes[-1] >= 1000 or one["odd"] == -1
    drawn_sizes = np.sqrt(np.mean(normal(6, (500, 1000))[0] ** 2, axis=1))
    assert np.abs(drawn_sizes - 1).max() < 0.15  # which k may be off by


def gradients(weights: list[Array]) -> tuple[list[Array], float]:
    """Those of a ReLU chain, and the root of the mean square that comes out of it."""
    import torch

    (x, cotangent) = normal(1, (64, len(weights[0])), (64, weights[-1].shape[1]))
    out: list[Any] = []

    def loss(*given: Any) -> Any:
        h = torch.tensor(x)
        for w in given:
            h = torch.relu(h @ w)
        out.append(h.detach().square().mean().sqrt().item())
        return (h * torch.tensor(cotangent)).sum()

    _, *grads = by_autograd(loss, *weights)
    return grads, out[0]


def test_weights_times_gradients_are_the_same_in_all_layers() -> None:
    k = [1.0] * 12
    k[5] = 0.001
    weights = drawn(0, [64] * 13, k)
    grads, _ = gradients(weights)
    products = [float((w * g).sum()) for w, g in zip(weights, grads, strict=True)]
    np.testing.assert_allclose(products, products[0], rtol=1e-9)
    norms = np.array([np.linalg.norm(g) for g in grads])
    others = np.delete(norms, 5)
    assert norms.argmax() == 5
    assert norms[5] / np.median(others) == pytest.approx(1000, rel=0.5)


def test_gradients_that_agree_may_all_be_nothing() -> None:
    assert 0.02 / np.sqrt(2 / 256) == pytest.approx(0.226, abs=5e-4)
    np.testing.assert_allclose(0.226**30, 4.2e-20, rtol=0.01)
    weights = drawn(0, [256] * 31, [0.226] * 30)
    grads, size = gradients(weights)
    norms = [np.linalg.norm(g) for g in grads]
    assert max(norms) < 2 * min(norms)
    assert 1e-20 < size < 1e-19
