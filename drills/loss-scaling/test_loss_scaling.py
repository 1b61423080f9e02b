"""The step with a scaled loss, against torch.amp.GradScaler on the CPU and float64 arithmetic.

The figures that prompts, hints, feedback and follow-ups quote are at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch

from tests.harness import Array, Program, assert_close, each, variants

variant = variants(__file__)
SHAPES = [(3,), (2, 4), (3,)]
LARGEST = float(np.finfo(np.float16).max)
SMALLEST = float(np.finfo(np.float16).smallest_subnormal)

# float32 arithmetic in another order differs by 2e-7 of weights around 1.
CLOSE = 2e-6


@pytest.fixture(autouse=True)
def overflows_are_no_warnings() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


@dataclass
class Run:
    """True gradients, (S, K, *shape) by parameter, and the settings of a run.

    A large gradient overflows while the scale is too large for it, and only then.
    """

    weights: list[Array]
    grads: list[Array]
    scale: float = 2.0**16
    growth: float = 2.0
    backoff: float = 0.5
    interval: int = 3
    lr: float = 0.3
    max_norm: float = 1e9
    spoiled: set[tuple[int, int]] = field(default_factory=set)  # (step, micro-batch) with a NaN

    @classmethod
    def draw(cls, steps: int, pieces: int = 1, *, seed: int = 0, **settings: Any) -> Run:
        rng = np.random.default_rng(seed)
        weights = [rng.standard_normal(shape).astype(np.float32) for shape in SHAPES]
        grads = [rng.standard_normal((steps, pieces, *shape)) for shape in SHAPES]
        return cls(weights, grads, **settings)

    def backward(self, scale: float, step: int, piece: int) -> list[Array]:
        grads = [(g[step, piece] * scale).astype(np.float16) for g in self.grads]
        if (step, piece) in self.spoiled:
            grads[1][1, 2] = np.nan
        return grads

    def by(self, program: Program, *, big: bool = False) -> tuple[list[float], list[list[Array]]]:
        """The scale before each step and after the last, and the weights after each."""
        state = program.init(self.scale, self.growth, self.backoff, self.interval)
        master, scales, after = list(self.weights), [self.scale], []
        steps, pieces = self.grads[0].shape[:2]
        for step in range(steps):
            scale = float(program.loss_scale(state))
            batches = [self.backward(scale, step, piece) for piece in range(pieces)]
            new, half, state = (
                program.big_step(list(master), batches, state, self.lr, self.max_norm)
                if big
                else program.train_step(list(master), batches[0], state, self.lr)
            )
            master = list(new)
            assert {w.dtype for w in new} == {np.dtype("float32")}
            assert all(np.array_equal(h, w.astype(np.float16)) for h, w in zip(half, new))  # noqa: B905
            assert {h.dtype for h in half} == {np.dtype("float16")}
            scales.append(float(program.loss_scale(state)))
            after.append([np.array(w) for w in new])
        return scales, after

    def by_torch(self) -> tuple[list[float], list[list[Array]]]:
        """The same by GradScaler, SGD and clip_grad_norm_."""
        weights = [torch.nn.Parameter(torch.tensor(p)) for p in self.weights]
        optimizer = torch.optim.SGD(weights, lr=self.lr)
        scaler = torch.amp.GradScaler(
            "cpu",
            init_scale=self.scale,
            growth_factor=self.growth,
            backoff_factor=self.backoff,
            growth_interval=self.interval,
        )
        steps, pieces = self.grads[0].shape[:2]
        scales, after = [float(scaler.scale(torch.ones(())))], []
        for step in range(steps):
            several = [self.backward(scaler.get_scale(), step, k) for k in range(pieces)]
            for w, *parts in zip(weights, *several, strict=True):
                w.grad = torch.stack([torch.tensor(g).float() / pieces for g in parts]).sum(0)
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(weights, self.max_norm)
            scaler.step(optimizer)
            scaler.update()
            scales.append(scaler.get_scale())
            after.append([w.detach().numpy().copy() for w in weights])
        return scales, after


RUNS = [
    Run.draw(14),  # overflows again and again: the scale goes up to what the gradients allow
    Run.draw(12, seed=1, scale=256.0, growth=4.0),
    Run.draw(9, seed=2, scale=2.0, interval=1, backoff=0.25),
    Run.draw(10, seed=3, scale=8.0, spoiled={(1, 0), (2, 0), (6, 0)}),
    Run.draw(6, seed=4, scale=4.0, spoiled={(s, 0) for s in range(6)}),  # down to 1/16
]


def test_the_runs_meet_what_they_are_for() -> None:
    scales = [run.by_torch()[0] for run in RUNS]
    assert any(b < a for a, b in zip(scales[0], scales[0][1:], strict=False))
    assert any(b > a for a, b in zip(scales[0], scales[0][1:], strict=False))
    assert max(scales[1]) > LARGEST / 4
    assert min(scales[4]) == 1 / 16


BIG = [
    Run.draw(6, 3, seed=5, scale=2.0**12),
    Run.draw(6, 4, seed=6, scale=64.0, max_norm=1.0),
    Run.draw(4, 2, seed=7, scale=1024.0, max_norm=100.0),
    Run.draw(7, 3, seed=8, scale=64.0, max_norm=2.0, spoiled={(2, 1), (3, 0), (3, 2)}),
    Run.draw(2, 1, seed=9, scale=16.0, max_norm=0.01),
]


@each(("run", "big"), [*((run, False) for run in RUNS), *((run, True) for run in BIG)])
def test_every_right_solution_follows_gradscaler(program: Program, run: Run, big: bool) -> None:
    assert_close(run.by(program, big=big), run.by_torch(), CLOSE, least=1)


@each(("scale", "size"), [(1024.0, 1e-8), (2.0**20, 1e-10), (2.0**-8, 1e5), (65536.0, 1e-3)])
def test_every_right_step_is_that_of_float64(program: Program, scale: float, size: float) -> None:
    rng = np.random.default_rng(10)
    grads = [(size * scale * rng.standard_normal(shape)).astype(np.float16) for shape in SHAPES]
    weights = [np.zeros(shape, np.float32) for shape in SHAPES]
    new, half = program.step(weights, grads, scale, 0.3)
    for w, h, g in zip(new, half, grads, strict=True):
        expected = -0.3 * g.astype(np.float64) / scale
        assert np.abs(w - expected).max() <= 1e-6 * np.abs(expected).max()
        assert h.dtype == np.float16
        assert np.array_equal(h, w.astype(np.float16))


@each("bad", [np.inf, -np.inf, np.nan])
def test_every_right_step_is_skipped_as_a_whole(program: Program, bad: float) -> None:
    for at in range(len(SHAPES)):
        weights = [np.ones(shape, np.float32) for shape in SHAPES]
        grads = [np.ones(shape, np.float16) for shape in SHAPES]
        grads[at].flat[1] = bad
        new, half = program.step(weights, grads, 8.0, 0.5)
        assert all(np.array_equal(w, np.ones(w.shape)) for w in (*new, *half))


def moved(program: Program, true: float, scale: float = 1024.0, lr: float = 1.0) -> float:
    """By how much a weight of 0 is moved by a true gradient, over what it should be."""
    g = np.array([true * scale], np.float16)
    new, _ = program.step([np.zeros(1, np.float32)], [g], scale, lr)
    return float(new[0][0] / (-lr * float(g[0]) / scale))


def test_the_starter_agrees_with_float32_on_gradients_around_1_and_stands_still_on_small_ones(
    starter: Program,
) -> None:
    rng = np.random.default_rng(11)
    p = [rng.standard_normal(50).astype(np.float32)]
    g = [(1024 * rng.standard_normal(50)).astype(np.float16)]
    new, _ = starter.step(p, g, 1024.0, 0.01)
    assert np.array_equal(new[0], p[0] - 0.01 * (g[0].astype(np.float32) / np.float32(1024)))
    assert np.float16(1e-8 * 1024) != 0
    assert moved(starter, 1e-8) == 0
    assert moved(starter, 1.0) == 1


def test_the_starters_scale_is_never_below_torchs_and_grows_sooner(starter: Program) -> None:
    sooner = 0
    for seed in range(20):
        spoiled = {(int(s), 0) for s in np.random.default_rng(seed).integers(0, 12, 3)}
        run = Run.draw(12, scale=8.0, spoiled=spoiled)
        mine, right = run.by(starter)[0], run.by_torch()[0]
        assert all(a >= b for a, b in zip(mine, right, strict=True))
        sooner += mine != right
    assert sooner > 10


def test_the_starters_big_step_is_a_thousand_times_too_short_and_sees_overflows(
    starter: Program, reference: Program
) -> None:
    run = Run.draw(1, 2, seed=12, scale=1024.0, max_norm=1.0)
    run.weights = [np.zeros_like(p) for p in run.weights]
    right, wrong = run.by(reference, big=True)[1][0], run.by(starter, big=True)[1][0]
    assert np.linalg.norm(right[1]) / np.linalg.norm(wrong[1]) == pytest.approx(1024, rel=0.02)
    run.grads, run.scale = [np.ones_like(g) for g in run.grads], 40000.0
    assert run.by(reference, big=True)[0][1] == 40000
    assert run.by(starter, big=True)[0][1] == 20000


def test_float16_ends_where_the_texts_say() -> None:
    assert LARGEST == 65504
    assert pytest.approx(6e-8, rel=0.01) == SMALLEST
    assert np.float16(1e-8) == 0
    assert np.float16(2.9e-8) == 0
    assert np.float16(3.1e-8) > 0
    assert np.isinf(np.float16(65536.0))
    assert np.isinf(np.float16(256) ** 2)
    assert np.isfinite(np.nextafter(np.float16(256), np.float16(0)) ** 2)
    assert abs(float(np.float16(0.0011)) / 0.0011 - 1) == pytest.approx(4e-4, rel=0.1)
    assert np.float16(1 - 2.4e-4) == 1
    assert np.float16(1 - 2.5e-4) < 1
    assert list(np.nan_to_num(np.array([np.inf, np.nan], np.float16))) == [LARGEST, 0]


def test_what_small_gradients_become_in_half(reference: Program) -> None:
    for name in ("unscales-in-half", "unscales-in-half / by-a-product"):
        assert moved(variant(name), 2e-8) == 0
        assert moved(variant(name), 1.0) == 1
    assert moved(variant("update-in-half"), 2e-8) == 0
    assert moved(variant("update-in-half"), 1e-4, lr=1e-4) == 0
    assert moved(variant("scale-in-half"), 1e-3, scale=2.0**20) == 0
    assert moved(variant("scale-not-undone"), 1e-3) == 1024
    assert moved(reference, 2e-8) == pytest.approx(1)


def test_the_next_scale_makes_a_step_too_short_by_growth(reference: Program) -> None:
    run = Run.draw(1, scale=8.0, growth=4.0, interval=1)
    run.weights = [np.zeros_like(p) for p in run.weights]
    wrong, right = run.by(variant("unscales-with-the-next-scale"))[1], run.by(reference)[1]
    assert right[0][0] / wrong[0][0] == pytest.approx(4)


def test_half_a_unit_of_float16_and_where_fp8_ends() -> None:
    one = np.float16(1)
    assert one + np.float16(4.8e-4) == one < one + np.float16(5e-4)
    assert one - np.float16(2.4e-4) == one > one - np.float16(2.5e-4)
    assert torch.finfo(torch.float8_e4m3fn).max == 448
    assert torch.finfo(torch.float8_e5m2).max == 57_344
    # bfloat16 has the range and not the digits.
    assert torch.finfo(torch.bfloat16).smallest_normal == pytest.approx(1e-38, rel=0.2)
    assert 1 - np.log2(torch.finfo(torch.bfloat16).eps) == 8
    assert 1 - np.log2(torch.finfo(torch.float16).eps) == 11
    assert torch.tensor(1 - 0.001, dtype=torch.bfloat16) == 1
    assert torch.tensor(1 - 0.001, dtype=torch.float16) < 1


def test_clipping_saves_no_step_with_an_overflow() -> None:
    for bad, others in ((np.inf, 0.0), (np.nan, np.nan)):
        w = torch.nn.Parameter(torch.zeros(3))
        w.grad = torch.tensor([1.0, bad, 2.0])
        torch.nn.utils.clip_grad_norm_([w], 1.0)
        assert torch.isnan(w.grad[1])
        assert np.array_equal(w.grad[[0, 2]].numpy(), [others, others], equal_nan=True)


def test_torch_unscales_once_refuses_float16_and_leaves_adam_alone_when_it_skips() -> None:
    w = torch.nn.Parameter(torch.zeros(2))
    adam = torch.optim.Adam([w])
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale(torch.ones(()))
    w.grad = torch.tensor([8.0, 16.0])
    scaler.unscale_(adam)
    scaler.step(adam)
    assert w.grad.tolist() == [1, 2]  # step has not divided again
    before = {k: v.clone() for k, v in adam.state[w].items()}
    scaler.update()
    w.grad = torch.tensor([1.0, np.inf])
    scaler.step(adam)
    scaler.update()
    assert all(torch.equal(adam.state[w][k], v) for k, v in before.items())
    scaler.unscale_(adam)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(adam)
    assert scaler.get_scale() == 4
    half = torch.nn.Parameter(torch.zeros(2, dtype=torch.float16))
    half.grad = torch.ones(2, dtype=torch.float16)
    with pytest.raises(ValueError, match="unscale FP16"):
        scaler.unscale_(torch.optim.SGD([half], lr=1.0))
