"""Exact expectations of estimates: all draws that there are, each with its probability.

Of a normal number the draws are the nodes of a Gauss quadrature, which is exact for the polynomials
that f is. So nothing here is random.
"""

import itertools
import operator

import numpy as np


def _chances(logits):
    e = np.exp(logits - logits.max())
    return e / e.sum()


def _moments(draws):
    """The mean of (chance, estimate) over all draws, and the variance, summed over entries."""
    chances, found = zip(*draws, strict=True)
    found = np.array(found, dtype=np.float64)
    chances = np.array(chances)
    mean = chances @ found
    return mean, float(chances @ ((found - mean) ** 2).sum(axis=1))


def _all_actions(program, logits, table, size, shift):
    """Each way to draw actions: how likely it is, and what is estimated from it."""
    p = _chances(logits)
    for some in itertools.product(range(len(p)), repeat=int(size)):
        actions = np.array(some)
        rewards = table[actions] + shift
        yield p[actions].prod(), program.estimate(logits.copy(), actions.copy(), rewards)


def expected(program, logits, table, size):
    """The mean of the estimate over all draws."""
    return _moments(_all_actions(program, logits, table, size, 0.0))[0]


def spread(program, logits, table, size):
    """The variance of the estimate."""
    return [_moments(_all_actions(program, logits, table, size, 0.0))[1]]


def constant(program, logits, table, size):
    """Return the estimates of all draws, and those with 1,000 added to rewards."""
    shifts = 0.0, 1000.0
    return [[g for _, g in _all_actions(program, logits, table, size, one)] for one in shifts]


def change(estimates):
    """Return by how much the estimate changes at most, over all draws."""
    return max(float(np.max(np.abs(np.subtract(*pair)))) for pair in zip(*estimates, strict=True))


def _nodes(number, size):
    """All ways to draw nodes of a normal number, with their weights."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(number)
    weights = weights / weights.sum()
    for some in itertools.product(range(number), repeat=int(size)):
        which = list(some)
        yield weights[which].prod(), nodes[which]


def _polynomial(coefficients, shift=0.0):
    """A function of an array, from its coefficients, those of the lowest power first."""
    wanted = np.array(coefficients, dtype=np.float64)
    wanted[0] += shift

    def f(z):
        return np.polynomial.polynomial.polyval(np.asarray(z, dtype=np.float64), wanted)

    return f


def _all_scores(program, mu, log_std, f, number, size):
    for weight, eps in _nodes(number, size):
        yield weight, [float(g) for g in program.score_grad(mu, log_std, eps.copy(), f)]


def expected_score(program, mu, log_std, coefficients, size):
    """The means of score_grad over all draws."""
    number = {1: 9, 2: 7, 3: 5}[int(size)]
    f = _polynomial(coefficients)
    mean, _ = _moments(_all_scores(program, mu, log_std, f, number, size))
    return float(mean[0]), float(mean[1])


def spread_score(program, mu, log_std, coefficients, size):
    """The variances of score_grad for f, and for f and a thousand, the larger one last."""
    return sorted(
        _moments(_all_scores(program, mu, log_std, _polynomial(coefficients, shift), 5, size))[1]
        for shift in (0.0, 1000.0)
    )


def elsewhere(program, mu, log_std, coefficients, eps):
    """Return the points at which score_grad asks for f."""
    f, asked = _polynomial(coefficients), []

    def noting(z):
        asked.extend(np.ravel(z))
        return f(z)

    program.score_grad(mu, log_std, eps.copy(), noting)
    return np.array(asked)


def no_draws(asked, mu, log_std, eps):
    """Return at how many points f was asked for that are none of the draws."""
    draws = mu + np.exp(log_std) * eps
    return sum(not np.isclose(draws, z, rtol=1e-9, atol=1e-9).any() for z in asked)


def path(program, mu, log_std, coefficients, eps):
    """What path_grad gives for these draws."""
    df = _polynomial(np.polynomial.polynomial.polyder(coefficients))
    by_mu, by_log_std = program.path_grad(mu, log_std, eps.copy(), df)
    return float(by_mu), float(by_log_std)


def noises(program, grads, batches, replacement):
    """The noise for each size of batch."""
    return [float(program.noise(grads.copy(), int(b), replacement)) for b in batches]


def _whole(batch):
    """Return a batch as an int; in words what it is, if it is none that range or slices take."""
    try:
        return operator.index(batch)
    except TypeError:
        return f"{batch!r}, no int"


def usual(program, grads, relative):
    """The noise of a batch of 2, and the batch for a relative noise, with the default."""
    return float(program.noise(grads.copy(), 2)), _whole(program.batch_for(grads.copy(), relative))


def batches_for(program, grads, relatives, replacement):
    """The batch for each relative noise."""
    return [_whole(program.batch_for(grads.copy(), float(r), replacement)) for r in relatives]
