"""The convolution's reference, starter and right solutions against torch's autograd and optimiser.

torch computes in float64 from its own convolution; nothing of the drill's algorithm is repeated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
import torch

from tests.harness import Array, Program, assert_close, by_autograd, each, normal

# Differences of 2e-15 were the largest seen; anything near 1e-12 is another computation.
CLOSE = {"float64": 1e-12, "float32": 1e-5}


@dataclass(frozen=True)
class Geometry:
    """Sizes of one convolution; the comment of each entry below says what it is there for."""

    samples: int
    inputs: int
    outputs: int
    length: int
    kernel: int
    stride: int = 1
    padding: int = 0

    @property
    def steps(self) -> int:
        return (self.length + 2 * self.padding - self.kernel) // self.stride + 1

    @property
    def given(self) -> dict[str, int]:
        """The settings of a call, without those that are so by default."""
        settings = {"stride": self.stride, "padding": self.padding}
        return dict(settings.items() - {"stride": 1, "padding": 0}.items())


GEOMETRIES = [
    Geometry(2, 3, 4, 5, 5),  # a single output step
    Geometry(2, 3, 4, 11, 3),  # overlapping windows
    Geometry(1, 2, 3, 9, 3, padding=1),  # a single sample
    Geometry(2, 2, 3, 12, 3, stride=2, padding=1),  # a right margin that no window reaches
    Geometry(3, 2, 1, 13, 2, stride=3),  # gaps between the windows and at the end
    Geometry(2, 1, 3, 4, 2, padding=5),  # windows that see nothing but padding
    Geometry(2, 2, 2, 2, 5, padding=2),  # an input shorter than the filter
    Geometry(2, 3, 2, 7, 1),  # one tap
    Geometry(2, 3, 2, 7, 1, stride=3, padding=1),  # one tap, a stride and padding
    Geometry(1, 1, 1, 1, 1),  # one of everything
]


@dataclass(frozen=True)
class Inputs:
    x: Array
    w: Array
    b: Array
    grad_y: Array
    target: Array

    @classmethod
    def draw(cls, geometry: Geometry, seed: int = 0, dtype: str = "float64") -> Inputs:
        g = geometry
        result = (g.samples, g.outputs, g.steps)
        of_x, of_w = (g.samples, g.inputs, g.length), (g.outputs, g.inputs, g.kernel)
        return cls(*normal(seed, of_x, of_w, (g.outputs,), result, result, dtype=dtype))


def oracle(inputs: Inputs, geometry: Geometry) -> list[Array]:
    conv = partial(torch.nn.functional.conv1d, **geometry.given)
    return by_autograd(conv, inputs.x, inputs.w, inputs.b, grad_y=inputs.grad_y)


def sgd_oracle(inputs: Inputs, geometry: Geometry, lr: float) -> tuple[Array, Array, float]:
    """Return w, b and the loss before the step by torch.optim.SGD in float64."""
    x, target = (torch.tensor(a, dtype=torch.float64) for a in (inputs.x, inputs.target))
    w, b = (torch.nn.Parameter(torch.tensor(a, dtype=torch.float64)) for a in (inputs.w, inputs.b))
    y = torch.nn.functional.conv1d(x, w, b, geometry.stride, geometry.padding)
    loss = torch.nn.functional.mse_loss(y, target)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.optim.SGD([w, b], lr=lr).step()
    return w.detach().numpy(), b.detach().numpy(), loss.item()


def passes(program: Program, inputs: Inputs, geometry: Geometry) -> list[Array]:
    y, cache = program.conv1d_forward(inputs.x, inputs.w, inputs.b, **geometry.given)
    return [y, *program.conv1d_backward(inputs.grad_y, cache)]


@each("dtype", ["float64", "float32"])
@each("geometry", GEOMETRIES)
def test_every_right_solution_agrees_with_autograd(
    program: Program, geometry: Geometry, dtype: str
) -> None:
    inputs = Inputs.draw(geometry, dtype=dtype)
    expected = oracle(inputs, geometry)
    assert_close(passes(program, inputs, geometry), expected, CLOSE, dtype)


@each("dtype", ["float64", "float32"])
@each("geometry", GEOMETRIES)
def test_every_right_solution_makes_the_step_of_torch_sgd(
    program: Program, geometry: Geometry, dtype: str
) -> None:
    inputs = Inputs.draw(geometry, seed=1, dtype=dtype)
    w, b, loss = sgd_oracle(inputs, geometry, 0.7)
    w_new, b_new, got_loss = program.train_step(
        inputs.w, inputs.b, inputs.x, inputs.target, 0.7, **geometry.given
    )
    assert_close((w_new, b_new), (w, b), CLOSE, dtype)
    assert float(got_loss) == pytest.approx(loss, rel=CLOSE[dtype])


def test_an_empty_batch_gives_empty_results_and_gradients_of_zero(program: Program) -> None:
    geometry = Geometry(0, 2, 3, 7, 3, stride=2, padding=1)
    wanted = [np.zeros(shape) for shape in ((0, 3, 4), (0, 2, 7), (3, 2, 3), (3,))]
    assert_close(passes(program, Inputs.draw(geometry), geometry), wanted, CLOSE)


def curve(program: Program, driver: Program, seed: int) -> list[float]:
    signal = np.random.default_rng(seed).integers(0, 2, (128, 1, 12)) * 2.0 - 1.0
    true_w, true_b = np.array([[[1.5, -1.0, 0.5]]]), np.array([0.5])
    losses: list[float] = driver.identify(program, signal, true_w, true_b, 0.1, 60)
    return losses


def test_sixty_steps_of_sgd_find_the_filter_for_every_signal(
    reference: Program, starter: Program, driver: Program
) -> None:
    for seed in range(8):
        losses = curve(reference, driver, seed)
        assert len(losses) == 61
        assert losses[0] > 1.0
        assert losses[-1] < 1e-9  # ten times below what the question asks for
    assert curve(starter, driver, 0)[-1] < 1e-8  # a lone filter it finds all the same


def test_the_starter_is_right_for_one_output_step_only(starter: Program) -> None:
    toy = Geometry(2, 3, 4, 5, 5)
    inputs = Inputs.draw(toy)
    assert_close(passes(starter, inputs, toy), oracle(inputs, toy), CLOSE)


@each("geometry", GEOMETRIES[1:9])
def test_the_starter_keeps_the_last_step_and_is_right_otherwise(
    starter: Program, geometry: Geometry
) -> None:
    inputs = Inputs.draw(geometry)
    y, grad_x, grad_w, grad_b = passes(starter, inputs, geometry)
    right = oracle(inputs, geometry)
    assert_close((y, grad_x), right[:2], CLOSE)
    last = inputs.grad_y.copy()
    last[:, :, :-1] = 0.0
    assert_close((grad_w, grad_b), oracle(replace(inputs, grad_y=last), geometry)[2:], CLOSE)
    assert not np.allclose(grad_b, right[3])


def test_the_starter_holds_every_window_as_many_times_the_audio_as_there_are_taps(
    starter: Program,
) -> None:
    inputs = Inputs.draw(Geometry(1, 1, 1, 400, 25, padding=12), dtype="float32")
    _, (windows, *_) = starter.conv1d_forward(inputs.x, inputs.w, inputs.b, 1, 12)
    assert windows.nbytes == 25 * inputs.x.nbytes


@each("geometry", GEOMETRIES[1:9])
def test_the_step_of_the_starter_is_as_far_off_as_the_learning_rate_is_large(
    starter: Program, geometry: Geometry
) -> None:
    inputs = Inputs.draw(geometry, seed=1)
    off = []
    for lr in (1e-2, 1e-3):
        w, _, loss = sgd_oracle(inputs, geometry, lr)
        w_new, _, got_loss = starter.train_step(
            inputs.w, inputs.b, inputs.x, inputs.target, lr, geometry.stride, geometry.padding
        )
        off.append(np.abs(w_new - w).max() / np.abs(w - inputs.w).max())
        assert got_loss != pytest.approx(loss, rel=1e-6)
    assert off[0] / off[1] == pytest.approx(10.0, rel=0.2)
