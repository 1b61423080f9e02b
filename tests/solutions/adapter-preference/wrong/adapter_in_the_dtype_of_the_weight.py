"""Wrong: a new adapter has the dtype of the weight."""

import math

import numpy as np

def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing=0.0):
    pairs, scale = len(tokens) // 2, alpha / a.shape[0]
    after, before = np.zeros(2 * pairs), np.zeros(2 * pairs)
    slopes = [(np.zeros_like(a), np.zeros_like(b)) for _ in tokens]
    for n in range(2 * pairs):
        for t in range(int(prompt[n]), int(length[n])):
            h, word = hidden[n, t - 1], tokens[n, t]
            plain, down = weight @ h, a @ h
            z = plain + scale * (b @ down)
            after[n] += z[word] - lse(z)
            before[n] += plain[word] - lse(plain)
            error = -np.exp(z - lse(z))
            error[word] += 1
            slopes[n][0][:] += scale * np.outer(b.T @ error, h)
            slopes[n][1][:] += scale * np.outer(error, down)
    loss, grad_a, grad_b = 0.0, np.zeros_like(a), np.zeros_like(b)
    for i in range(pairs):
        j = pairs + i
        m = beta * (after[i] - after[j] - before[i] + before[j])
        loss += ((1 - smoothing) * softplus(-m) + smoothing * softplus(m)) / pairs
        pull = beta * (smoothing * sigmoid(m) - (1 - smoothing) * sigmoid(-m)) / pairs
        grad_a += pull * (slopes[i][0] - slopes[j][0])
        grad_b += pull * (slopes[i][1] - slopes[j][1])
    return loss, grad_a, grad_b

def lse(z):
    top = z.max()
    return top + math.log(np.exp(z - top).sum())

def softplus(m):
    return max(m, 0.0) + math.log1p(math.exp(-abs(m)))

def sigmoid(m):
    e = math.exp(-abs(m))
    return 1 / (1 + e) if m >= 0 else e / (1 + e)

def fresh(weight, rank, rng):
    bound = weight.shape[1] ** -0.5
    a = rng.uniform(-bound, bound, (rank, weight.shape[1])).astype(weight.dtype)
    return a, np.zeros((weight.shape[0], rank), weight.dtype)

def merged(weight, a, b, alpha):
    out = weight.copy()
    for row, coefficients in zip(out, b, strict=True):
        row += (alpha / len(a) * coefficients @ a).astype(weight.dtype)
    return out
