"""Wrong: takes off the best of the rewards."""
# named: best-taken-off

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
        base = max(rewards) if others else 0.0
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
