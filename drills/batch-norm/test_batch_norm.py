"""The reference and every right solution of batch-norm, against torch.nn.BatchNorm1d in float64.

And the figures that its texts quote.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
import torch

from grader.explain.session import GradingSession
from tests import corpus
from tests.harness import Array, Program, assert_close, each, named, variants

variant = variants(__file__)
SHAPES = [(2, 3), (5, 4), (7, 3), (3, 4, 5), (5, 3, 2), (1, 4, 6)]
CLOSE = {"float64": 1e-11, "float32": 2e-5}


def draw(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng([seed, *shape])
    x, grad_y = 2 * rng.standard_normal(shape) + 1, rng.standard_normal(shape)
    return x.astype(dtype), grad_y.astype(dtype)


def weights(width: int, dtype: str = "float64") -> tuple[Array, Array]:
    rng = np.random.default_rng(width)
    return rng.uniform(0.5, 2.0, width).astype(dtype), rng.standard_normal(width).astype(dtype)


def torch_layer(
    width: int, eps: float = 1e-5, momentum: float | None = 0.1, dtype: str = "float64"
) -> Any:
    """Return torch's layer in float64, with the same gamma and beta, rounded to a dtype."""
    layer = torch.nn.BatchNorm1d(width, eps=eps, momentum=momentum, dtype=torch.float64)
    with torch.no_grad():
        for parameter, array in zip(layer.parameters(), weights(width, dtype), strict=True):
            parameter.copy_(torch.tensor(array))
    return layer


def by_torch(layer: Any, x: Array, grad_y: Array) -> list[Array]:
    a = torch.tensor(x.astype(np.float64), requires_grad=True)
    y = layer(a)
    up = torch.tensor(grad_y.astype(np.float64))
    found = torch.autograd.grad(y, (a, layer.weight, layer.bias), up)
    running = layer.running_mean.clone(), layer.running_var.clone()
    return [t.detach().numpy() for t in (y, *running, *found)]


def by_program(layer: Any, x: Array, grad_y: Array) -> list[Array]:
    y = layer.forward(x)
    running = np.array(layer.running_mean), np.array(layer.running_var)
    return [y, *running, *layer.backward(grad_y)]


def agree(found: list[Any], wanted: list[Array], dtype: str = "float64") -> None:
    assert_close(found, wanted, CLOSE, dtype, least=1)


@each("shape", SHAPES)
@each(
    ("eps", "momentum", "dtype"),
    [(1e-5, 0.1, "float64"), (0.3, None, "float64"), (1e-30, 0.5, "float64"),
     (1e-5, 0.0, "float64"), (1e-5, 1.0, "float64"), (0.3, 0.1, "float32")],
)  # fmt: skip
def test_training_and_evaluation_in_turn_are_those_of_torch(
    program: Program, shape: tuple[int, ...], eps: float, momentum: float | None, dtype: str
) -> None:
    given = inspect.signature(torch.nn.BatchNorm1d).parameters
    left_out = (eps, momentum) == (given["eps"].default, given["momentum"].default)
    settings = () if left_out else (eps, momentum)
    mine = program.BatchNorm1d(*weights(shape[1], dtype), *settings)
    theirs = torch_layer(shape[1], eps, momentum, dtype)
    for call, training in enumerate([True, True, False, True, False, False]):
        mine.training = training
        theirs.train(training)
        inputs = draw(shape, dtype, call)
        agree(by_program(mine, *inputs), by_torch(theirs, *inputs), dtype)


@each("shape", [(1, 3), (1, 3, 1)])
def test_one_value_per_feature_is_refused_as_in_torch(
    program: Program, shape: tuple[int, ...]
) -> None:
    x, grad_y = draw(shape)
    mine, theirs = program.BatchNorm1d(*weights(3)), torch_layer(3)
    with pytest.raises(ValueError, match=r"."):
        mine.forward(x)
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        theirs(torch.tensor(x))
    agree([mine.running_mean, mine.running_var], [np.zeros(3), np.ones(3)])
    assert theirs.running_mean.tolist() == [0.0] * 3
    mine.training = False
    agree(by_program(mine, x, grad_y), by_torch(theirs.eval(), x, grad_y))


def test_a_checkpoint_is_used_and_stays_as_it_is(program: Program) -> None:
    (x, grad_y), (x_next, grad_next) = draw((3, 4, 5)), draw((3, 4, 5), seed=1)
    mean, var = weights(4)[1], weights(4)[0]
    mine, theirs = program.BatchNorm1d(*weights(4)), torch_layer(4)
    mine.running_mean, mine.running_var, mine.training = mean, var, False
    for array in (mean, var, x, grad_y):
        array.setflags(write=False)
    theirs.running_mean, theirs.running_var = torch.tensor(mean), torch.tensor(var)
    agree(by_program(mine, x, grad_y), by_torch(theirs.eval(), x, grad_y))
    mine.training = True
    agree(by_program(mine, x_next, grad_next), by_torch(theirs.train(), x_next, grad_next))


def test_a_backward_pass_belongs_to_its_forward(program: Program) -> None:
    for training in (True, False):
        mine, theirs = program.BatchNorm1d(*weights(4)), torch_layer(4).train(training)
        x, grad_y = draw((5, 4))
        mine.training = training
        y = mine.forward(x)
        mine.training = not training
        wanted = by_torch(theirs, x, grad_y)
        agree([y, *mine.backward(grad_y)], [wanted[0], *wanted[3:]])


def test_the_starter_does_what_the_prompts_say(starter: Program) -> None:
    mine, theirs = starter.BatchNorm1d(*weights(4)), torch_layer(4)
    for call in range(100):
        x, grad_y = draw((4, 4), seed=call)
        found, wanted = by_program(mine, x, grad_y), by_torch(theirs, x, grad_y)
        agree([found[0], *found[3:]], [wanted[0], *wanted[3:]])
    # The same weights, evaluated a second time.
    mine.training = False
    batches = [draw((4, 4), seed=call)[0] for call in range(3)]
    once, again = (np.stack([mine.forward(x) for x in batches]) for _ in range(2))
    assert np.abs(once[0] - again[0]).max() > 0.1
    # A frozen layer has a gradient of x that is wrong, and on the whole smaller.
    theirs.eval()
    sizes = []
    for call in range(20):
        x, grad_y = draw((4, 4), seed=call)
        mine.running_mean, mine.running_var = np.full(4, 1.0), np.full(4, 4.0)
        theirs.running_mean = torch.tensor(mine.running_mean)
        theirs.running_var = torch.tensor(mine.running_var)
        found, wanted = by_program(mine, x, grad_y), by_torch(theirs, x, grad_y)
        agree([found[0], *found[4:]], [wanted[0], *wanted[4:]])
        sizes.append([np.linalg.norm(found[3]), np.linalg.norm(wanted[3])])
    assert np.mean(sizes, axis=0)[0] < 0.9 * np.mean(sizes, axis=0)[1]


def test_a_step_in_micro_batches_is_another_function() -> None:
    x, grad_y = draw((32, 4))
    whole, parts = torch_layer(4), torch_layer(4)
    one = by_torch(whole, x, grad_y)
    eight = [by_torch(parts, x[k : k + 4], grad_y[k : k + 4]) for k in range(0, 32, 4)]
    assert np.abs(np.concatenate([e[0] for e in eight]) - one[0]).max() > 0.1
    assert np.abs(np.concatenate([e[3] for e in eight]) - one[3]).max() > 0.1
    for at in (1, 2):
        assert np.abs(eight[-1][at] - one[at]).min() > 0.01


def test_the_figures_in_texts_are_right(reference: Program) -> None:
    # A mean of 7 after 1 and after 22 batches; what the last 22 batches weigh.
    layer = reference.BatchNorm1d(np.ones(1), np.zeros(1))
    seen = []
    for _ in range(22):
        layer.forward(np.array([[6.0], [8.0]]))
        seen.append(round(float(layer.running_mean[0]), 2))
    assert (seen[0], seen[-1]) == (0.7, 6.31)
    assert 1 - 0.9**21 < 0.9 < 1 - 0.9**22
    # The spread of a fading mean of independent numbers is sqrt(share / (2 - share)) of theirs.
    ratio = math.sqrt((0.9 / 1.1) / (0.1 / 1.9))
    assert round(ratio, 1) == 3.9
    drawn = np.random.default_rng(0).standard_normal((20_000, 1, 1))
    spreads = []
    for fade in (variant("momentum-swapped")._fade, reference._fade):
        value, values = 0.0, []
        for new in drawn.ravel().tolist():
            value = fade(value, new, 0.1)
            values.append(value)
        spreads.append(np.std(values[100:]))
    assert abs(spreads[0] / spreads[1] - ratio) < 0.15
    # eps outside the root: divisors for a deviation of 1e-3.
    inside, outside = math.sqrt(1e-3**2 + 1e-5), 1e-3 + 1e-5
    assert (f"{inside:.1e}", f"{outside:.1e}") == ("3.3e-03", "1.0e-03")


def test_a_variance_by_position_lacks_how_the_means_of_positions_differ() -> None:
    x = draw((3, 4, 5))[0]
    lacking = x.var(axis=(0, 2)) - x.var(axis=0).mean(axis=-1)
    np.testing.assert_allclose(lacking, x.mean(axis=0).var(axis=-1))


def test_columns_of_the_gradient_sum_to_0_in_training_only(reference: Program) -> None:
    x, grad_y = draw((5, 4))
    layer = reference.BatchNorm1d(*weights(4), 0.3)
    for training in (True, False):
        layer.training = training
        layer.forward(x)
        sums = np.abs(layer.backward(grad_y)[0].sum(axis=0))
        assert sums.max() < 1e-13 if training else sums.min() > 1e-3


def test_an_evaluation_without_eps_is_named(session: GradingSession) -> None:
    wrong = corpus.wrong_programs("batch-norm")["evaluation_divides_by_the_deviation"]
    assert named(session.grade(wrong.source, seed=3)) == {"eps-in-evaluation"}
