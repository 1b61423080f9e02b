# %% loops
"""Loops over draws and lists of floats; batch_for by a formula, checked on both sides."""

import math

import numpy as np

def estimate(logits, actions, rewards):
    top = max(logits)
    e = [math.exp(v - top) for v in logits]
    p = [v / sum(e) for v in e]
    k, b = len(p), len(actions)
    grad = [0.0] * k
    for i in range(b):
        others = [rewards[j] for j in range(b) if j != i]
        base = sum(others) / len(others) if others else 0.0
        for c in range(k):
            grad[c] += (rewards[i] - base) * ((c == actions[i]) - p[c]) / b
    return np.array(grad)

def score_grad(mu, log_std, eps, f):
    std = math.exp(log_std)
    values = list(f(np.array([mu + std * e for e in eps])))
    b = len(values)
    by_mu = by_log_std = 0.0
    for i, (v, e) in enumerate(zip(values, eps)):
        rest = values[:i] + values[i + 1 :]
        a = v - (sum(rest) / len(rest) if rest else 0.0)
        by_mu += a * e / std / b
        by_log_std += a * (e * e - 1.0) / b
    return by_mu, by_log_std

def path_grad(mu, log_std, eps, df):
    std = math.exp(log_std)
    z = mu + std * np.asarray(eps)
    s = df(z)
    return float(sum(s) / len(s)), float(sum(s * (z - mu)) / len(s))

def noise(grads, batch, replacement=True):
    n, dims = grads.shape
    trace = 0.0
    for j in range(dims):
        column = [float(v) for v in grads[:, j]]
        mean = math.fsum(column) / n
        trace += math.fsum((v - mean) ** 2 for v in column) / n
    if replacement:
        return trace / batch
    return trace * (n - batch) / ((n - 1) * batch) if n > 1 else 0.0

def batch_for(grads, relative, replacement=True):
    most = (relative * math.sqrt(sum(float(v) ** 2 for v in grads.mean(0)))) ** 2
    start = max(int(noise(grads, 1) / most) - 2, 1) if replacement else 1
    for batch in range(start, 10**9):
        if noise(grads, batch, replacement) <= most:
            return batch

# %% scaled-by-b-over-b-minus-one
"""The mean of all, corrected by B / (B - 1); scatter-adds; bisection for the batch."""

import numpy as np

def centered(values):
    b = len(values)
    return (values - values.mean()) * b / (b - 1) if b > 1 else values.copy()

def estimate(logits, actions, rewards):
    a = centered(np.asarray(rewards)) / len(actions)
    grad = np.zeros(len(logits))
    np.add.at(grad, actions, a)
    shifted = np.exp(logits - np.max(logits))
    return grad - a.sum() * shifted / shifted.sum()

def score_grad(mu, log_std, eps, f):
    std = np.exp(log_std)
    a = centered(f(mu + std * eps))
    return np.mean(a * eps) / std, np.mean(a * (eps * eps - 1))

def path_grad(mu, log_std, eps, df):
    shift = np.exp(log_std) * eps
    slope = df(mu + shift)
    return np.average(slope), slope @ shift / len(eps)

def noise(grads, batch, replacement=True):
    trace = grads.var(axis=0).sum()
    left = 1 if replacement else (len(grads) - batch) / max(len(grads) - 1, 1)
    return trace * left / batch

def batch_for(grads, relative, replacement=True):
    most = relative * relative * (grads.mean(axis=0) @ grads.mean(axis=0))
    low, high = 0, 1
    while noise(grads, high, replacement) > most:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if noise(grads, middle, replacement) > most:
            low = middle
        else:
            high = middle
    return high

# %% einsum-and-a-matrix
"""The others by a matrix with zeros on its diagonal; einsum; covariance by np.cov."""

import numpy as np

def others(b):
    return (np.ones((b, b)) - np.eye(b)) / (b - 1) if b > 1 else np.zeros((1, 1))

def softmax(z):
    return np.exp(z - np.logaddexp.reduce(z))

def estimate(logits, actions, rewards):
    b = len(actions)
    one_hot = (actions[:, None] == np.arange(len(logits))).astype(float)
    return np.einsum("b,bk->k", rewards - others(b) @ rewards, one_hot - softmax(logits)) / b

def score_grad(mu, log_std, eps, f):
    std = np.exp(log_std)
    z = mu + std * eps
    values = f(z)
    a = values - others(len(z)) @ values
    slopes = np.stack([(z - mu) / std**2, (z - mu) ** 2 / std**2 - 1.0])
    return tuple(np.einsum("b,ib->i", a, slopes) / len(z))

def path_grad(mu, log_std, eps, df):
    moves = np.stack([np.ones_like(eps), np.exp(log_std) * eps])
    return tuple(np.einsum("ib,b->i", moves, df(mu + moves[1])) / len(eps))

def noise(grads, batch, replacement=True):
    n = len(grads)
    if n == 1:
        return 0.0
    trace = np.trace(np.atleast_2d(np.cov(grads.T))) * (n - 1) / n
    return float(trace / batch * (1.0 if replacement else (n - batch) / (n - 1)))

def batch_for(grads, relative, replacement=True):
    norm = np.linalg.norm(grads.mean(axis=0))
    batch = 1
    while np.sqrt(max(noise(grads, batch, replacement), 0.0)) > relative * norm * (1 + 1e-12):
        batch += 1
    return batch

# %% a-class
"""A class for what is drawn, a baseline by running sums, a cache of the trace."""

import numpy as np

class Draws:
    def __init__(self, scores):
        self.scores = np.asarray(scores, dtype=np.float64)  # (B, P)

    def weighed(self, values):
        values = np.asarray(values, dtype=np.float64)
        b = len(values)
        before = np.concatenate([[0.0], np.cumsum(values)[:-1]])
        after = np.concatenate([np.cumsum(values[::-1])[::-1][1:], [0.0]])
        base = (before + after) / (b - 1) if b > 1 else 0.0
        return (values - base) @ self.scores / b

class Noise:
    def __init__(self, grads):
        self.n = grads.shape[0]
        self.mean = grads.mean(axis=0)
        self.trace = np.sum(np.square(grads - self.mean)) / self.n

    def of(self, batch, replacement):
        found = self.trace / batch
        if not replacement and self.n > 1:
            found *= (self.n - batch) / (self.n - 1)
        return found

def estimate(logits, actions, rewards):
    p = np.exp(logits - logits.max())
    p /= p.sum()
    scores = np.tile(-p, (len(actions), 1))
    scores[np.arange(len(actions)), actions] += 1
    return Draws(scores).weighed(rewards)

def score_grad(mu, log_std, eps, f):
    std = np.exp(log_std)
    both = np.column_stack([eps / std, eps**2 - 1])
    by_mu, by_log_std = Draws(both).weighed(f(mu + std * eps))
    return float(by_mu), float(by_log_std)

def path_grad(mu, log_std, eps, df):
    std = np.exp(log_std)
    slope = df(mu + std * eps)
    return slope.mean(), (slope * eps).mean() * std

def noise(grads, batch, replacement=True):
    return Noise(grads).of(batch, replacement)

def batch_for(grads, relative, replacement=True):
    found, batch = Noise(grads), 1
    while found.of(batch, replacement) > relative**2 * np.dot(found.mean, found.mean):
        batch += 1
    return batch

# %% pairs-of-draws
"""The estimate as a sum over pairs of draws; the noise by distances of pairs."""

import itertools

import numpy as np

def by_pairs(values, scores):
    """Half of the mean, over ordered pairs, of the difference of values times that of scores."""
    b = len(values)
    if b == 1:
        return values[0] * scores[0]
    total = np.zeros(scores.shape[1])
    for i, j in itertools.combinations(range(b), 2):
        total += (values[i] - values[j]) * (scores[i] - scores[j])
    return total / (b * (b - 1))

def estimate(logits, actions, rewards):
    e = np.exp(logits - logits.max())
    return by_pairs(rewards, np.eye(len(logits))[actions] - e / e.sum())

def score_grad(mu, log_std, eps, f):
    scores = np.stack([eps * np.exp(-log_std), eps**2 - 1], axis=1)
    return by_pairs(f(mu + np.exp(log_std) * eps), scores).tolist()

def path_grad(mu, log_std, eps, df):
    z = mu + np.exp(log_std) * eps
    return [np.mean(df(z)), np.mean(df(z) * (z - mu))]

def noise(grads, batch, replacement=True):
    n = len(grads)
    distances = ((grads[:, None] - grads[None]) ** 2).sum()
    trace = distances / (2 * n * n)
    return trace / batch if replacement or n == 1 else trace / batch * (n - batch) / (n - 1)

def batch_for(grads, relative, replacement=True):
    goal = relative**2 * np.sum(grads.mean(axis=0) ** 2)
    return next(
        b for b in itertools.count(1) if noise(grads, b, replacement) <= goal * (1 + 1e-12)
    )

# %% functional
"""Closures that make estimators, np.delete for the others, the mean of gradients by @."""

import numpy as np

def baseline(values):
    if len(values) < 2:
        return np.zeros(len(values))
    return np.array([np.delete(values, i).mean() for i in range(len(values))])

def estimator(scores):
    return lambda values: np.mean((values - baseline(values)) * scores, axis=-1)

def estimate(logits, actions, rewards):
    weights = np.exp(logits - logits.max())
    scores = np.eye(len(logits))[:, actions] - (weights / weights.sum())[:, None]
    return estimator(scores)(np.asarray(rewards, dtype=float))

def score_grad(mu, log_std, eps, f):
    std = np.exp(log_std)
    scores = np.array([eps / std, (eps - 1) * (eps + 1)])
    found = estimator(scores)(f(mu + std * eps))
    return found[0], found[1]

def path_grad(mu, log_std, eps, df):
    def draw(m, s):
        return m + np.exp(s) * eps
    slope = df(draw(mu, log_std))
    return slope.mean(), slope @ draw(0.0, log_std) / eps.size

def noise(grads, batch, replacement=True):
    ones = np.ones(len(grads)) / len(grads)
    mean = ones @ grads
    trace = ones @ np.linalg.norm(grads - mean, axis=1) ** 2
    share = 1 if replacement else (len(grads) - batch) / (len(grads) - 1 or 1)
    return trace * share / batch

def batch_for(grads, relative, replacement=True):
    n = len(grads)
    mean = grads.mean(axis=0)
    sizes = np.arange(1, n + 1) if not replacement else np.arange(1, 200_001)
    trace = grads.var(axis=0).sum()
    left = np.ones(len(sizes)) if replacement else (n - sizes) / max(n - 1, 1)
    return int(sizes[np.argmax(trace / sizes * left <= relative**2 * (mean @ mean))])

# %% long-double
"""Long double inside, math for numbers, no array ever larger than the batch."""

import math

import numpy as np

def advantages(values):
    values = np.asarray(values, dtype=np.longdouble)
    b = len(values)
    return values if b == 1 else (b * values - values.sum()) / (b - 1)

def estimate(logits, actions, rewards):
    z = np.asarray(logits, dtype=np.longdouble)
    p = np.exp(z - z.max())
    p = p / p.sum()
    a = advantages(rewards)
    return np.array([float((a * ((actions == k) - p[k])).mean()) for k in range(len(z))])

def score_grad(mu, log_std, eps, f):
    std = math.exp(log_std)
    a = advantages(f(mu + std * eps))
    e = np.asarray(eps, dtype=np.longdouble)
    return float((a * e).mean() / std), float((a * (e * e - 1)).mean())

def path_grad(mu, log_std, eps, df):
    std = math.exp(log_std)
    slope = df(mu + std * eps).astype(np.longdouble)
    return float(slope.mean()), float((slope * eps).mean() * std)

def noise(grads, batch, replacement=True):
    g = np.asarray(grads, dtype=np.longdouble)
    n = g.shape[0]
    trace = ((g**2).mean(axis=0) - g.mean(axis=0) ** 2).sum()
    if not replacement:
        trace = trace * (n - batch) / max(n - 1, 1)
    return float(max(trace, 0) / batch)

def batch_for(grads, relative, replacement=True):
    g = np.asarray(grads, dtype=np.longdouble)
    goal = np.longdouble(relative) ** 2 * (g.mean(axis=0) ** 2).sum()
    batch = 1
    while noise(g, batch, replacement) > goal:
        batch += 1
    return batch

# %% one-hot-alone
"""The softmax is left out where it cancels, since what is less the others adds up to 0."""

import numpy as np

def estimate(logits, actions, rewards):
    b, grad = len(actions), np.zeros(len(logits))
    if b == 1:
        e = np.exp(logits - logits.max())
        return rewards[0] * (np.eye(len(logits))[actions[0]] - e / e.sum())
    a = rewards - (rewards.sum() - rewards) / (b - 1)
    for action, value in zip(actions, a):
        grad[action] += value / b
    return grad

def score_grad(mu, log_std, eps, f):
    b, std = len(eps), np.exp(log_std)
    v = f(mu + std * eps)
    if b == 1:
        return v[0] * eps[0] / std, v[0] * (eps[0] ** 2 - 1)
    a = v - (v.sum() - v) / (b - 1)
    return a @ eps / b / std, a @ eps**2 / b

def path_grad(mu, log_std, eps, df):
    z = mu + np.exp(log_std) * eps
    return np.array([df(z).mean(), (df(z) * (z - mu)).mean()])

def noise(grads, batch, replacement=True):
    n = len(grads)
    each = ((grads - grads.mean(axis=0)) ** 2).sum(axis=1)
    if replacement:
        return each.mean() / batch
    return each.sum() / batch * (n - batch) / (n * (n - 1)) if n > 1 else 0

def batch_for(grads, relative, replacement=True):
    limit = relative**2 * (grads.mean(axis=0) ** 2).sum()
    if not replacement:
        for batch in range(1, len(grads) + 1):
            if noise(grads, batch, False) <= limit:
                return batch
    batch = int(np.ceil(noise(grads, 1) / limit))
    return max(batch, 1)

# %% one-line-changed
# part: 1
"""The starter with the mean of the others."""

import numpy as np

def softmax(logits):
    e = np.exp(logits - logits.max())
    return e / e.sum()

def estimate(logits, actions, rewards):
    score = np.eye(len(logits))[actions] - softmax(logits)
    advantages = rewards - (rewards.sum() - rewards) / (len(rewards) - 1)
    return (advantages[:, None] * score).mean(axis=0)
