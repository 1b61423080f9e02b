"""A tower of residual blocks, its loss and gradients, and rows to train it on: given and right.

params has w_in (inputs, width), w_out (width, classes) and blocks, a list of dicts: u (width,
hidden), v (hidden, width), and gain, a number in an array of no axes.
"""

import numpy as np


def norm(z):
    """Each row divided by the root of its mean square."""
    return z / np.sqrt(np.mean(z**2, axis=1, keepdims=True) + 1e-12)


def branch(block, h):
    """What a block adds to h (rows, width)."""
    return block["gain"] * (np.maximum(norm(h @ block["u"]), 0) @ block["v"])


def forward(params, x):
    """The logits (rows, classes)."""
    h = x @ params["w_in"]
    for block in params["blocks"]:
        h = h + branch(block, h)
    return h @ params["w_out"]


def loss_and_grads(params, x, y):
    """The mean cross-entropy, and its gradients, shaped like params."""
    stream = [x @ params["w_in"]]
    for block in params["blocks"]:
        stream.append(stream[-1] + branch(block, stream[-1]))
    logits = stream[-1] @ params["w_out"]
    log_p = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    rows = np.arange(len(y))
    grad = np.exp(log_p)
    grad[rows, y] -= 1
    grad /= len(y)
    grads = {"w_out": stream[-1].T @ grad, "blocks": []}
    grad = grad @ params["w_out"].T
    for block, h in zip(params["blocks"][::-1], stream[-2::-1], strict=True):
        z = h @ block["u"]
        size = np.sqrt(np.mean(z**2, axis=1, keepdims=True) + 1e-12)
        n = z / size
        active = np.maximum(n, 0)
        grad_v = block["gain"] * active.T @ grad
        grad_gain = np.sum(active @ block["v"] * grad)
        grad_n = block["gain"] * grad @ block["v"].T * (n > 0)
        grad_z = (grad_n - n * np.mean(grad_n * n, axis=1, keepdims=True)) / size
        grads["blocks"].insert(0, {"u": h.T @ grad_z, "v": grad_v, "gain": grad_gain})
        grad = grad + grad_z @ block["u"].T
    grads["w_in"] = x.T @ grad
    return float(-log_p[rows, y].mean()), grads


def rows(seed, n=256):
    """Rows x (n, 8), and their classes y (n,), four of them."""
    rng, task = np.random.default_rng(seed), np.random.default_rng(2026)
    x = rng.standard_normal((n, 8))
    first, second = task.standard_normal((8, 24)) / np.sqrt(8), task.standard_normal((24, 4))
    return x, np.argmax(np.maximum(x @ first, 0) @ second, axis=1)
