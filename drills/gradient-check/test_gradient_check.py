"""The layers against torch's autograd, and tests of gradients with other generators."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from tests.harness import ROOT, Array, Program, by_autograd, each, load, variants

Forward = Callable[[torch.Tensor], torch.Tensor]

SPEC = yaml.safe_load((ROOT / "questions" / "gradient-check.yaml").read_text())
DRAWS = np.array(SPEC["defaults"]["xs"])
DRIVER = load(ROOT / "drills" / "gradient-check" / "driver.py")
variant = variants(__file__)
RIGHT = {name: make for name, (right, make) in DRIVER.LAYERS.items() if right}
WRONG = {name: make for name, (right, make) in DRIVER.LAYERS.items() if not right}


def sine(scale: float = 1.0) -> Forward:
    return lambda x: scale * torch.sin(x)


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, dim=1)


COSINES = torch.tensor(np.cos(np.arange(20.0))).reshape(4, 5)
RISING = torch.arange(1.0, 7.0).double().reshape(2, 3)

# The same layers in torch, whose autograd is the oracle.
TORCH: dict[str, Forward] = {
    "softmax": softmax,
    "softmax-loops": softmax,
    "linear": lambda x: x @ COSINES,
    "huge": sine(1e9),
    "tiny": sine(1e-9),
    "leaky-relu": lambda x: torch.nn.functional.leaky_relu(x, 0.25),
    "flat": lambda x: 0 * x,
    "first-column": lambda x: torch.sin(x[:, 0])[:, None, None] * RISING,
    "reuses-buffer": sine(),
    "sign": sine(),
    "off-by-two-permille": sine(),
    "ignores-cotangent": sine(),
    "diagonal-softmax": softmax,
    "zero-softmax": softmax,
    "mean-for-sum": lambda x: (x * x).sum(dim=1),
    "last-entry": sine(),
    "negative-half": sine(),
    "rows-mixed": sine(),
    "tiny-zero": sine(1e-9),
    "huge-offset": sine(1e9),
    "overwrites-x": sine(),
    "overwrites-grad-y": sine(),
    "not-a-number": lambda x: torch.log1p(torch.relu(x)),
    "one-column": lambda x: x.sum(dim=1),
}


def points() -> list[Array]:
    """The four x with other values in place of zeros, and random x of the same signs."""
    rng = np.random.default_rng(3)
    signs = np.where(DRAWS < 0, -1.0, 1.0)
    return [*np.where(DRAWS == 0, -0.25, DRAWS), *(signs * rng.uniform(0.1, 2.9, DRAWS.shape))]


def derivatives(layer: str) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Every x, and by torch y, the gradient that arrives, and that of x."""
    rng = np.random.default_rng(1)
    for x in points():
        grad_y = rng.normal(size=tuple(TORCH[layer](torch.tensor(x)).shape))
        y, grad_x = by_autograd(TORCH[layer], x, grad_y=grad_y)
        yield x, y, grad_y, grad_x


def test_every_layer_has_a_case_and_a_forward_in_torch() -> None:
    asked = [case["layer"] for case in SPEC["cases"].values()]
    assert sorted(asked) == sorted(DRIVER.LAYERS) == sorted(TORCH)


@each("layer", DRIVER.LAYERS)
def test_every_forward_equals_that_of_torch(layer: str) -> None:
    for x, y, _, _ in derivatives(layer):
        forward, _ = DRIVER.LAYERS[layer][1]()
        np.testing.assert_allclose(forward(x.copy()), y, rtol=1e-12, atol=0)
        assert forward(x.astype(np.float32)).dtype == np.float32


@each("layer", RIGHT)
def test_a_right_gradient_is_that_of_autograd_and_leaves_its_arguments_alone(layer: str) -> None:
    for x, _, grad_y, grad_x in derivatives(layer):
        _, backward = RIGHT[layer]()
        own_x, own_grad_y = x.copy(), grad_y.copy()
        got = backward(own_grad_y, own_x)
        assert np.abs(got - grad_x).max() <= 1e-13 * np.abs(grad_x).max()
        np.testing.assert_array_equal(own_x, x)
        np.testing.assert_array_equal(own_grad_y, grad_y)


@each("layer", WRONG)
def test_a_wrong_gradient_breaks_the_contract_at_every_x_of_those_signs(layer: str) -> None:
    for x, _, grad_y, grad_x in derivatives(layer):
        _, backward = WRONG[layer]()
        own_x, own_grad_y = x.copy(), grad_y.copy()
        got = backward(own_grad_y, own_x)
        changed = (own_x != x).any() or (own_grad_y != grad_y).any()
        assert changed == layer.startswith("overwrites")
        assert (got.shape != x.shape) == (layer == "one-column")
        assert np.isnan(got).any() == (layer == "not-a-number")
        if not changed and got.shape == x.shape and not np.isnan(got).any():
            assert np.abs(got - grad_x).max() >= 1.999e-3 * np.abs(grad_x).max()


def wrongly_judged(program: Program, xs: Array, seed: int) -> dict[str, str]:
    """Return what is said of the layers of which something wrong is said."""
    found = {}
    for layer, (right, _) in DRIVER.LAYERS.items():
        verdict, extra_calls = DRIVER.judge(program, layer, xs, seed)
        assert extra_calls == 0
        if verdict != ("accepted" if right else "rejected"):
            found[layer] = verdict
    return found


def test_a_right_solution_is_right_for_other_generators_too(program: Program) -> None:
    for seed in range(20, 24):
        assert wrongly_judged(program, DRAWS[:1], seed) == {}


def test_the_starter_passes_right_layers_and_catches_a_wrong_sign(starter: Program) -> None:
    """What a colleague tried, and what went through: three wrong ones among ordinary layers."""
    wrong = wrongly_judged(starter, DRAWS, 1)
    ordinary = ["softmax", "softmax-loops", "linear", "sign", "mean-for-sum", "negative-half"]
    assert not set(ordinary) & set(wrong)
    assert {"off-by-two-permille", "ignores-cotangent", "zero-softmax"} <= set(wrong)


def test_calls_of_forward_are_counted(reference: Program) -> None:
    calls = []

    def counting(forward: Any, backward: Any, x: Array, rng: Any) -> bool:
        for _ in range(203):
            calls.append(forward(x))
        return True

    assert DRIVER.judge(reference, "linear", DRAWS, 1) == ("accepted", 0)
    program = types.SimpleNamespace(gradient_is_right=counting)
    assert DRIVER.judge(program, "linear", DRAWS, 1) == ("accepted", 3)
    assert len(calls) == len(DRAWS) * 203
    log = DRIVER.Log(DRAWS[0], *DRIVER.sine())
    reference.gradient_is_right(log.forward, log.backward, DRAWS[0], np.random.default_rng(1))
    assert log.calls == 2 * 12 + 1


def central(h: float) -> float:
    """Return the relative error of a central difference of the sine: the mean over x near 1."""
    x = np.linspace(0.9, 1.1, 1001)
    measured = (np.sin(x + h) - np.sin(x - h)) / (2 * h)
    return float(np.abs(measured / np.cos(x) - 1).mean())


def test_the_errors_of_a_central_difference_are_as_quoted() -> None:
    assert central(1e-2) == pytest.approx(2e-5, rel=0.3)
    assert central(0.1) == pytest.approx(2e-3, rel=0.3)
    assert 3e-12 < central(1e-5) < 5e-11
    assert 2e-5 < central(1e-12) < 3e-4
    assert min(central(h) for h in (2e-6, 5e-6, 1e-5)) < min(central(1e-3), central(1e-8))


def test_a_central_difference_across_a_kink_is_the_mean_of_both_slopes() -> None:
    forward, backward = DRIVER.leaky_relu()
    zero = np.zeros((1, 1))
    for h in (1e-3, 1e-6):
        assert (forward(zero + h) - forward(zero - h)) / (2 * h) == 5 / 8
    assert backward(np.ones((1, 1)), zero) == 1 / 4


def test_the_outputs_of_a_softmax_have_a_sum_without_gradient() -> None:
    _, backward = DRIVER.softmax()
    for x in DRAWS:
        assert np.abs(backward(np.ones_like(x), x)).max() < 1e-15


@each(("name", "odd"), [
    ("same-array", "entries were moved up, never down"),
    ("single-precision", "forward got float32 only"),
    ("step-too-large", "every step was above 0.01"),
    ("step-too-small", "every step was below 1e-9"),
])  # fmt: skip
def test_a_wrong_verdict_comes_with_what_was_odd_about_the_calls(name: str, odd: str) -> None:
    assert DRIVER.judge(variant(name), "softmax", DRAWS, 1) == (f"rejected ({odd})", 0)
    assert DRIVER.judge(variant(name), "sign", DRAWS, 1) == ("rejected", 0)
