"""Exact expectations of estimates: all draws that there are, each with its probability.

Of a normal number the draws are the nodes of a Gauss quadrature, which is exact for the polynomials
that f is. So nothing here is random.
"""

import itertools

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


def _all_actions(program, logits, table, draws, shift):
    """Each way to draw actions: how likely it is, and what is estimated from it."""
    p = _chances(logits)
    for some in itertools.product(range(len(p)), repeat=int(draws)):
        actions = np.array(some)
        rewards = table[actions] + shift
        yield p[actions].prod(), program.estimate(logits.copy(), actions.copy(), rewards)


def expected(program, logits, table, draws):
    """The mean of the estimate over all draws."""
    return _moments(_all_actions(program, logits, table, draws, 0.0))[0]


def spread(program, logits, table, draws):
    """The variance of the estimate with rewards around 1,000 in hundredths of those around 0."""
    return [
        _moments(_all_actions(program, logits, table, draws, shift))[1] for shift in (0.0, 1000.0)
    ]


def by_group(program, logits, table, sizes):
    """The mean over groups, of other sizes, of the mean estimate of each."""
    return np.mean([expected(program, logits, table, size) for size in sizes], axis=0)


def _nodes(number, draws):
    """All ways to draw nodes of a normal number, with their weights."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(number)
    weights = weights / weights.sum()
    for some in itertools.product(range(number), repeat=int(draws)):
        which = list(some)
        yield weights[which].prod(), nodes[which]


def _polynomial(coefficients, shift=0.0):
    """A function of an array, from its coefficients, those of the lowest power first."""
    wanted = np.array(coefficients, dtype=np.float64)
    wanted[0] += shift

    def f(z):
        return np.polynomial.polynomial.polyval(np.asarray(z, dtype=np.float64), wanted)

    return f


def _all_scores(program, mu, log_std, f, number, draws):
    for weight, eps in _nodes(number, draws):
        yield weight, [float(g) for g in program.score_grad(mu, log_std, eps.copy(), f)]


def expected_score(program, mu, log_std, coefficients, draws):
    """The means of score_grad over all draws."""
    number = {1: 9, 2: 7, 3: 5}[int(draws)]
    f = _polynomial(coefficients)
    mean, _ = _moments(_all_scores(program, mu, log_std, f, number, draws))
    return float(mean[0]), float(mean[1])


def spread_score(program, mu, log_std, coefficients, draws):
    """The variances of score_grad for f, and for f and a thousand."""
    return [
        _moments(_all_scores(program, mu, log_std, _polynomial(coefficients, shift), 5, draws))[1]
        for shift in (0.0, 1000.0)
    ]


def path(program, mu, log_std, coefficients, eps):
    """What path_grad gives for these draws."""
    df = _polynomial(np.polynomial.polynomial.polyder(coefficients))
    by_mu, by_log_std = program.path_grad(mu, log_std, eps.copy(), df)
    return float(by_mu), float(by_log_std)


def noises(program, grads, batches, replacement):
    """The noise for each size of batch."""
    return [float(program.noise(grads.copy(), int(b), replacement)) for b in batches]


def usual(program, grads, relative):
    """The noise of a batch of 2, and the batch for a relative noise, with the default."""
    return float(program.noise(grads.copy(), 2)), int(program.batch_for(grads.copy(), relative))


def batches_for(program, grads, relatives, replacement):
    """The batch for each relative noise."""
    return [int(program.batch_for(grads.copy(), float(r), replacement)) for r in relatives]
