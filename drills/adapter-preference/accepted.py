# %% loops
"""One token after the other, with the math module."""

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
    return rng.uniform(-bound, bound, (rank, weight.shape[1])), np.zeros((weight.shape[0], rank))

def merged(weight, a, b, alpha):
    out = weight.copy()
    for row, coefficients in zip(out, b, strict=True):
        row += (alpha / len(a) * coefficients @ a).astype(weight.dtype)
    return out

# %% tokens-in-a-row
"""All tokens of all answers in one matrix, and sums by np.add.reduceat."""

import numpy as np

def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing=0.0):
    spans = [np.arange(p, n) for p, n in zip(prompt, length)]
    rows = np.repeat(np.arange(len(tokens)), length - prompt)
    at = np.concatenate(spans)
    h, words = hidden[rows, at - 1], tokens[rows, at]
    starts = np.concatenate([[0], np.cumsum(length - prompt)[:-1]])
    every = np.arange(len(words))
    low = h @ a.T * (alpha / len(a))
    frozen = h @ weight.T
    tuned = frozen + low @ b.T

    def logs(z):
        z = z - z.max(axis=1)[:, None]
        return z - np.log(np.exp(z).sum(axis=1))[:, None]

    log_p = logs(tuned)
    ratio = np.add.reduceat((log_p - logs(frozen))[every, words], starts)
    half = len(tokens) // 2
    m = beta * (ratio[:half] - ratio[half:])
    loss = np.mean((1 - smoothing) * np.logaddexp(0, -m) + smoothing * np.logaddexp(0, m))
    p = np.exp(-np.logaddexp(0, -m))
    pull = (p - (1 - smoothing)) * beta / half
    error = -np.exp(log_p)
    error[every, words] += 1
    error *= np.append(pull, -pull)[rows][:, None]
    return loss, alpha / len(a) * (error @ b).T @ h, error.T @ low

def fresh(weight, rank, rng):
    return 0.02 * rng.normal(size=(rank, weight.shape[-1])), np.zeros((len(weight), rank))

def merged(weight, a, b, alpha):
    return np.asarray(weight + np.einsum("vr,rd->vd", b, a) * alpha / len(a), weight.dtype)

# %% switched-off
"""A head with a switch, as libraries have it."""

import contextlib

import numpy as np

class Adapted:
    def __init__(self, weight, a, b, alpha):
        self.weight, self.a, self.b, self.scale, self.on = weight, a, b, alpha / len(a), True

    @contextlib.contextmanager
    def disabled(self):
        self.on = False
        try:
            yield self
        finally:
            self.on = True

    def __call__(self, h):
        z = np.einsum("...d,vd->...v", h, self.weight)
        return z + self.scale * (h @ self.a.T @ self.b.T) if self.on else z

    def backward(self, h, error):
        h, error = h.reshape(-1, h.shape[-1]), error.reshape(-1, error.shape[-1])
        return self.scale * (self.b.T @ error.T) @ h, self.scale * error.T @ (h @ self.a.T)

def log_softmax(z):
    return z - np.logaddexp.reduce(z, axis=-1, keepdims=True)

def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing=0.0):
    head = Adapted(weight, a, b, alpha)
    place = np.arange(tokens.shape[1])
    mask = ((prompt[:, None] <= place) & (place < length[:, None]))[:, 1:]
    words = np.where(mask, tokens[:, 1:], 0)
    h = np.zeros_like(hidden[:, :-1])
    h[mask] = hidden[:, :-1][mask]
    n, t = np.indices(words.shape)
    log_p = log_softmax(head(h))
    with head.disabled():
        log_q = log_softmax(head(h))
    reward = beta * ((log_p - log_q)[n, t, words] * mask).sum(1)
    good, bad = reward.reshape(2, -1)
    margin = good - bad
    losses = [np.logaddexp(0, sign * margin) for sign in (-1, 1)]
    loss = np.dot([1 - smoothing, smoothing], losses).mean()
    wish = (np.exp(-losses[0]) - 1 + smoothing) * beta / len(margin)
    error = np.zeros_like(log_p)
    error[n, t, words] = 1
    error -= np.exp(log_p)
    error *= np.stack([wish, -wish]).reshape(-1, 1, 1) * mask[..., None]
    return loss, *head.backward(h, error)

def fresh(weight, rank, rng):
    rows, columns = weight.shape
    return np.zeros((rank, columns)), rng.standard_normal((rows, rank)) / np.sqrt(rank)

def merged(weight, a, b, alpha):
    return (np.float64(weight) + b @ (alpha / a.shape[0] * a)).astype(weight.dtype)

# %% pair-by-pair
"""A pair at a time, with closures that know how to go back."""

import numpy as np

def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing=0.0):
    scale = alpha / len(a)

    def answer(n):
        places = slice(prompt[n], length[n])
        h = hidden[n, prompt[n] - 1 : length[n] - 1]
        words = tokens[n, places]
        each = np.arange(len(words))
        base = h @ weight.T
        z = base + scale * (h @ a.T) @ b.T
        top, base_top = z.max(1, keepdims=True), base.max(1, keepdims=True)
        e, e_base = np.exp(z - top), np.exp(base - base_top)
        total = e.sum(1, keepdims=True)
        log_ratio = (z - top - np.log(total))[each, words]
        log_ratio = log_ratio - (base - base_top - np.log(e_base.sum(1, keepdims=True)))[each, words]

        def back(weight_of_score):
            error = -weight_of_score * e / total
            error[each, words] += weight_of_score
            return scale * np.linalg.multi_dot([b.T, error.T, h]), scale * error.T @ (h @ a.T)

        return log_ratio.sum(), back

    pairs = len(tokens) // 2
    loss, grads = 0.0, [np.zeros_like(a), np.zeros_like(b)]
    for i in range(pairs):
        (good, of_good), (bad, of_bad) = answer(i), answer(pairs + i)
        margin = beta * (good - bad)
        loss += (np.logaddexp(0, -margin) + smoothing * margin) / pairs
        pull = beta * (np.exp(-np.logaddexp(0, -margin)) - 1 + smoothing) / pairs
        for grad, one, other in zip(grads, of_good(pull), of_bad(-pull)):
            grad += one + other
    return loss, *grads

def fresh(weight, rank, rng):
    a = rng.random((rank, weight.shape[1])) - 0.5
    b = np.full((weight.shape[0], rank), 0.0)
    return a, b

def merged(weight, a, b, alpha):
    total = weight.astype(np.float64)
    for column, row in zip(b.T, a):
        total += alpha / len(a) * np.outer(column, row)
    return total.astype(weight.dtype)

# %% difference-of-normalizers
"""The weight's own logits cancel in a log ratio: what is left is the adapter's, and two log-sum-exps."""

import numpy as np

def lse(z):
    top = z.max(-1)
    return top + np.log(np.sum(np.exp(z - top[..., None]), -1))

def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing=0.0):
    row, place = np.where((np.arange(tokens.shape[1]) >= prompt[:, None])
                          & (np.arange(tokens.shape[1]) < length[:, None]))
    h, word = hidden[row, place - 1], tokens[row, place]
    low = h @ a.T
    added = alpha / len(a) * low @ b.T
    plain = h @ weight.T
    log_ratio = added[np.arange(len(word)), word] - lse(plain + added) + lse(plain)
    pairs = len(tokens) // 2
    sign = np.where(row < pairs, beta, -beta)
    margin = np.zeros(pairs)
    np.add.at(margin, row % pairs, sign * log_ratio)
    small = np.exp(-np.abs(margin))
    loss = np.mean(np.maximum(-margin, 0) + np.log1p(small) + smoothing * margin)
    p = np.where(margin > 0, 1, small) / (1 + small)
    of_token = sign * (p - 1 + smoothing)[row % pairs] / pairs
    error = -of_token[:, None] * np.exp(plain + added - lse(plain + added)[:, None])
    np.add.at(error, (np.arange(len(word)), word), of_token)
    error = error * (alpha / len(a))
    return loss, (error @ b).T @ h, error.T @ low

def fresh(weight, rank, rng):
    a = rng.standard_normal((rank, weight.shape[1]))
    return a / np.linalg.norm(a, axis=1, keepdims=True), np.zeros((weight.shape[0], rank))

def merged(weight, a, b, alpha):
    new = weight + np.tensordot(b, a, 1) * (alpha / len(a))
    return new if new.dtype == weight.dtype else new.astype(weight.dtype)

# %% two-models
"""The model before tuning is a matrix, the tuned one a matrix and an adapter: functions of each."""

import functools

import numpy as np

def before(h, weight):
    return np.matmul(h, weight.T)

def tuned(h, weight, a, b, scale):
    return before(h, weight) + np.matmul(np.matmul(h, a.T), b.T * scale)

def score(model, rows, h, words):
    z = model(h)
    lse = functools.reduce(np.logaddexp, z.T)
    picked = np.take_along_axis(z, words[:, None], 1)[:, 0] - lse
    return np.array([picked[r].sum() for r in rows]), np.exp(z - lse[:, None])

def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta, smoothing=0.0):
    scale = alpha / a.shape[0]
    stops = np.cumsum(length - prompt)
    rows = [slice(stop - n, stop) for stop, n in zip(stops, length - prompt)]
    h = np.vstack([x[p - 1 : n - 1] for x, p, n in zip(hidden, prompt, length)])
    words = np.hstack([x[p:n] for x, p, n in zip(tokens, prompt, length)])
    now, p = score(functools.partial(tuned, weight=weight, a=a, b=b, scale=scale), rows, h, words)
    then, _ = score(functools.partial(before, weight=weight), rows, h, words)
    good, bad = np.split(now - then, 2)
    margin = beta * (good - bad)
    losses = np.logaddexp(0, -margin) * (1 - smoothing) + np.logaddexp(0, margin) * smoothing
    slope = smoothing - np.exp(-np.logaddexp(0, margin))
    pull = np.concatenate([slope, -slope]) * (beta / len(margin))
    error = -p
    error[range(len(words)), words] += 1
    for r, strength in zip(rows, pull):
        error[r] *= strength
    return losses.mean(), np.einsum("mr,md->rd", error @ b, h) * scale, error.T @ (h @ a.T) * scale

def fresh(weight, rank, rng):
    outputs, inputs = weight.shape
    return rng.choice([-1.0, 1.0], (rank, inputs)) / inputs, np.zeros((outputs, rank))

def merged(weight, a, b, alpha):
    scaled = np.multiply(b, alpha / a.shape[0])
    return np.add(weight, scaled @ a).astype(weight.dtype, copy=False)

# %% masks-and-eye
# part: 1
"""Masks that multiply, rows of an identity: right as long as padding is harmless."""

import numpy as np

def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta):
    scale = alpha / len(a)
    t = np.arange(tokens.shape[1])[None, 1:]
    mask = ((t >= prompt[:, None]) & (t < length[:, None])).astype(float)
    one_hot = np.eye(len(weight))[tokens[:, 1:]]
    h = hidden[:, :-1]
    reference = h @ weight.T
    policy = h @ (weight + scale * b @ a).T
    p, q = (np.exp(z) / np.exp(z).sum(-1, keepdims=True) for z in (policy, reference))
    gained = (np.log((p * one_hot).sum(-1) / (q * one_hot).sum(-1)) * mask).sum(1)
    margin = beta * (gained[: len(gained) // 2] - gained[len(gained) // 2 :])
    sigmoid = 1 / (1 + np.exp(-margin))
    pull = beta * (sigmoid - 1) / len(margin)
    error = (one_hot - p) * (np.r_[pull, -pull][:, None] * mask)[..., None]
    full = np.tensordot(error, h, ([0, 1], [0, 1]))
    return -np.log(sigmoid).mean(), scale * b.T @ full, scale * full @ a.T

# %% reference-first
# part: 1
"""The reference's scores first, once and for all, then those of the policy."""

import numpy as np

def log_p(logits, words):
    logits = logits - logits.max(axis=-1, keepdims=True)
    return logits[np.arange(len(words)), words] - np.log(np.exp(logits).sum(axis=-1))

def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta):
    answers = [(hidden[n, prompt[n] - 1 : length[n] - 1], tokens[n, prompt[n] : length[n]])
               for n in range(len(tokens))]
    reference = [log_p(h @ weight.T, words).sum() for h, words in answers]
    adapted = weight + alpha / len(a) * (b @ a)
    policy = [log_p(h @ adapted.T, words).sum() for h, words in answers]
    gains = np.subtract(policy, reference)
    pairs = len(tokens) // 2
    margins = beta * (gains[:pairs] - gains[pairs:])
    grad = np.zeros_like(weight)
    for n, (h, words) in enumerate(answers):
        pull = -beta / (1 + np.exp(margins[n % pairs])) / pairs * (1 if n < pairs else -1)
        z = h @ adapted.T
        p = np.exp(z - z.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        p[np.arange(len(words)), words] -= 1
        grad -= pull * p.T @ h
    scale = alpha / len(a)
    return np.log1p(np.exp(-margins)).mean(), scale * b.T @ grad, scale * grad @ a.T
