"""The estimates against exact gradients by enumeration, quadrature and autograd."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.harness import Array, Program, by_autograd, each, normal, variants

variant = variants(__file__)
Draw = tuple[float, Any]


def softmax(z: Array) -> Array:
    return np.asarray(np.exp(z - np.logaddexp.reduce(z)))


def all_draws(program: Program, logits: Array, table: Array, size: int) -> list[Draw]:
    """Each way to draw actions: how likely it is, and the estimate."""
    p = softmax(logits)
    ways = [np.array(some) for some in itertools.product(range(len(p)), repeat=size)]
    return [(float(p[a].prod()), program.estimate(logits, a, table[a])) for a in ways]


def moments(draws: list[Draw]) -> tuple[Array, float]:
    """The mean, and the variance, added up over entries."""
    mean = sum(chance * np.asarray(found) for chance, found in draws)
    spread = sum(chance * ((np.asarray(found) - mean) ** 2).sum() for chance, found in draws)
    return np.asarray(mean), float(spread)


def exact(logits: Array, table: Array) -> Array:
    """The gradient of the expected reward by autograd."""
    import torch

    _, grad = by_autograd(lambda z: torch.softmax(z, 0) @ torch.tensor(table), logits)
    return grad


@each("size", [1, 2, 3, 5])
def test_the_mean_over_all_draws_is_the_gradient(program: Program, size: int) -> None:
    logits, table = normal(size, (3,), (3,))
    mean, _ = moments(all_draws(program, logits, table, size))
    np.testing.assert_allclose(mean, exact(logits, table), atol=1e-12)


@each("size", [2, 4, 6])
def test_what_is_left_with_a_mean_of_all(starter: Program, size: int) -> None:
    """1 - 1/B, a half of the gradient with two draws: a prompt and a follow-up say so."""
    logits, table = normal((1, size), (3,), (3,))
    mean, _ = moments(all_draws(starter, logits, table, size))
    np.testing.assert_allclose(mean, (1 - 1 / size) * exact(logits, table), atol=1e-12)


def test_many_draws_agree_to_three_digits(starter: Program) -> None:
    """In the mean: what is missing of 10,000 draws is a ten-thousandth."""
    rng = np.random.default_rng(0)
    logits, table = np.array([0.5, 0.0, -0.5]), np.array([0.0, 1.0, 2.0])
    p, size = softmax(logits), 10_000
    found = []
    for _ in range(300):
        actions = rng.choice(3, size=size, p=p)
        found.append(starter.estimate(logits, actions, table[actions]))
    np.testing.assert_allclose(np.mean(found, axis=0), exact(logits, table), atol=2e-3)


def test_the_biased_estimate_is_the_unbiased_one_made_smaller(
    starter: Program, reference: Program
) -> None:
    """So its variance is a quarter with two draws, and means of several sizes point elsewhere."""
    logits, table = normal(7, (3,), (3,))
    actions = np.array([0, 2, 2, 1])
    for size in (2, 3, 4):
        some = actions[:size], table[actions[:size]]
        wanted = (1 - 1 / size) * reference.estimate(logits, *some)
        np.testing.assert_allclose(starter.estimate(logits, *some), wanted, atol=1e-12)
    spreads = [moments(all_draws(one, logits, table, 2))[1] for one in (starter, reference)]
    assert spreads[0] == pytest.approx(spreads[1] / 4)


def test_variances_and_the_bar_between_them(reference: Program) -> None:
    even, table = np.zeros(3), np.array([0.0, 1.0, 2.0])

    def spread(program: Program, shift: float = 0.0) -> float:
        return moments(all_draws(program, even, table + shift, 5))[1]

    assert spread(reference) == pytest.approx(0.0778, abs=1e-4)
    assert spread(reference, 1000.0) == pytest.approx(0.0778, abs=1e-4)
    assert spread(variant("the-next-one-off")) == pytest.approx(0.1333, abs=1e-4)
    assert spread(variant("nothing-taken-off")) == pytest.approx(0.1778, abs=1e-4)


def nodes(number: int) -> tuple[Array, Array]:
    """Draws of a normal number and their weights, exact for polynomials."""
    x, w = np.polynomial.hermite_e.hermegauss(number)
    return x, w / w.sum()


def quadrature(
    estimate: Callable[[Array], tuple[float, float]], size: int, number: int
) -> list[Draw]:
    x, w = nodes(number)
    ways = [list(some) for some in itertools.product(range(number), repeat=size)]
    return [(float(w[some].prod()), estimate(x[some])) for some in ways]


def closed_form(f: Array, mu: float, log_std: float) -> Array:
    """The slopes of the mean of f(z), from the moments of a normal number, by differences."""

    def mean(m: float, s: float) -> float:
        v = np.exp(2 * s)
        return float(f @ [1, m, m**2 + v, m**3 + 3 * m * v])

    h = 1e-5
    by_mu = mean(mu + h, log_std) - mean(mu - h, log_std)
    by_log_std = mean(mu, log_std + h) - mean(mu, log_std - h)
    return np.array([by_mu, by_log_std]) / (2 * h)


def polynomial(f: Array) -> Callable[[Array], Array]:
    return lambda z: np.asarray(np.polynomial.polynomial.polyval(np.asarray(z), f))


@each(("size", "number"), [(1, 9), (2, 7), (3, 5)])
def test_both_estimates_have_the_gradient_as_their_mean(
    program: Program, size: int, number: int
) -> None:
    f, mu, log_std = normal(size, (4,))[0], -0.7, -0.4
    slope = np.polynomial.polynomial.polyder(f)
    score, _ = moments(
        quadrature(lambda e: program.score_grad(mu, log_std, e, polynomial(f)), size, number)
    )
    path, _ = moments(
        quadrature(
            lambda e: tuple(program.path_grad(mu, log_std, e, polynomial(slope))), size, number
        )
    )
    wanted = closed_form(f, mu, log_std)
    np.testing.assert_allclose(score, wanted, atol=1e-7)
    np.testing.assert_allclose(path, wanted, atol=1e-7)


def test_the_path_is_that_of_autograd(reference: Program) -> None:
    import torch

    f, eps = normal(3, (4,), (7,))
    given = torch.tensor(eps)

    def loss(mu: Any, log_std: Any) -> Any:
        z = mu + log_std.exp() * given
        return sum(c * z**k for k, c in enumerate(f.tolist())).mean()

    _, *wanted = by_autograd(loss, np.array(0.4), np.array(-0.3))
    slope = polynomial(np.polynomial.polynomial.polyder(f))
    np.testing.assert_allclose(reference.path_grad(0.4, -0.3, eps, slope), wanted, rtol=1e-12)


def test_the_scores_are_those_of_torchs_density(reference: Program) -> None:
    import torch

    z = torch.tensor([0.3, -1.2, 2.5], dtype=torch.float64)

    def log_p(mu: Any, log_std: Any) -> Any:
        density: Any = torch.distributions.Normal(mu, log_std.exp())
        return density.log_prob(z).sum()

    _, *wanted = by_autograd(log_p, np.array(0.4), np.array(-0.3))
    eps = (z.numpy() - 0.4) / np.exp(-0.3)
    found = [one.sum() for one in reference._scores(-0.3, eps)]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


SQUARE = polynomial(np.array([0.0, 0.0, 1.0]))


def test_the_figures_for_the_square(reference: Program) -> None:
    mu, log_std = 1.5, 0.3
    np.testing.assert_allclose(
        closed_form(np.array([0.0, 0.0, 1.0, 0.0]), mu, log_std), [3, 3.644], atol=1e-3
    )

    def spread(program: Program, size: int, shift: float = 0.0) -> float:
        f = polynomial(np.array([shift, 0.0, 1.0]))
        draws = quadrature(lambda e: program.score_grad(mu, log_std, e, f), size, 5)
        return moments(draws)[1]

    assert spread(reference, 3) == pytest.approx(142.2, abs=0.1)
    assert spread(reference, 3, 1000.0) == pytest.approx(142.2, abs=0.1)
    assert spread(variant("score-without-baseline"), 3) == pytest.approx(187.8, abs=0.1)
    by_mu = [
        moments(quadrature(one, 1, 9))[1]
        for one in (
            lambda e: (reference.path_grad(mu, log_std, e, lambda z: 2 * z)[0], 0.0),
            lambda e: (reference.score_grad(mu, log_std, e, SQUARE)[0], 0.0),
        )
    ]
    np.testing.assert_allclose(by_mu, [7.3, 61.6], atol=0.05)


def test_a_step_has_a_slope_that_only_the_score_sees(reference: Program) -> None:
    """The probability that z is above 0 grows with mu; a step has a derivative of 0."""
    eps = np.random.default_rng(0).standard_normal(200_000)
    path = reference.path_grad(0.5, 0.0, eps, np.zeros_like)
    score = reference.score_grad(0.5, 0.0, eps, lambda z: (z > 0).astype(float))
    assert tuple(path) == (0.0, 0.0)
    density = np.exp(-0.5 * 0.5**2) / np.sqrt(2 * np.pi)
    assert score[0] == pytest.approx(density, abs=0.01)


def test_a_relaxed_draw_is_biased_the_less_the_colder() -> None:
    """Gumbel-softmax, figures of one probability that is known exactly."""
    import torch

    rng = torch.Generator().manual_seed(0)
    logits = torch.tensor([0.2, 0.9, -0.4], dtype=torch.float64, requires_grad=True)
    values = torch.tensor([1.0, 3.0, 0.5], dtype=torch.float64)
    (wanted,) = torch.autograd.grad(torch.softmax(logits, 0) @ values, logits)
    noise = torch.rand(200_000, 3, generator=rng, dtype=torch.float64)
    gumbel = -(-noise.log()).log()
    off, spread = [], []
    for temperature in (1.0, 0.1):
        z = logits.detach().repeat(len(gumbel), 1).requires_grad_()
        relaxed = torch.softmax((z + gumbel) / temperature, 1) @ values
        (grads,) = torch.autograd.grad(relaxed.sum(), z)
        off.append((grads.mean(dim=0) - wanted).norm().item())
        spread.append(grads.var(dim=0).sum().item())
    assert off[1] < 0.1 * off[0]
    assert spread[1] > 5 * spread[0]


def mean_distance(grads: Array, batch: int, ways: list[tuple[int, ...]]) -> float:
    mean = grads.mean(axis=0)
    found = [((grads[list(some)].mean(axis=0) - mean) ** 2).sum() for some in ways]
    assert all(len(some) == batch for some in ways)
    return float(np.mean(found))


def test_noise_is_the_mean_over_all_ways_to_draw(program: Program) -> None:
    (grads,) = normal(5, (5, 3))
    for batch in (1, 2, 3):
        ways = list(itertools.product(range(5), repeat=batch))
        assert program.noise(grads, batch) == pytest.approx(mean_distance(grads, batch, ways))
    for batch in (1, 2, 4, 5):
        sets = list(itertools.combinations(range(5), batch))
        wanted = mean_distance(grads, batch, sets)
        assert program.noise(grads, batch, False) == pytest.approx(wanted, abs=1e-12)


def test_the_batch_is_the_smallest_that_will_do(program: Program) -> None:
    grads = normal(6, (9, 4))[0] + 0.5
    norm = float(np.linalg.norm(grads.mean(axis=0)))
    for relative, replacement in itertools.product((2.0, 0.7, 0.2), (True, False)):
        batch = program.batch_for(grads, relative, replacement)

        def enough(size: int, relative: float = relative, way: bool = replacement) -> bool:
            return bool(np.sqrt(program.noise(grads, size, way)) <= relative * norm)

        assert enough(batch)
        assert batch == 1 or not enough(batch - 1)


def test_four_examples_have_a_trace_of_4_and_a_mean_of_1(reference: Program) -> None:
    grads = np.array([[3.0, 0.0], [-1.0, 0.0], [1.0, 2.0], [1.0, -2.0]])
    assert reference.noise(grads, 1) == 4
    assert np.linalg.norm(grads.mean(axis=0)) == 1
    assert reference.batch_for(grads, 1.0) == 4
    assert reference.batch_for(grads, 0.5) == 16


def test_a_rare_class_is_missing_in_most_batches() -> None:
    chances = [0.999**size for size in (32, 256, 2048)]
    np.testing.assert_allclose(chances, [0.968, 0.774, 0.129], atol=5e-4)
