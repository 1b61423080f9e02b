"""The run: a network of two layers, 32 rows to a batch, batch 300 a bad one.

With params = start() and opt = optim.SGD(params, lr=0.1) the run of the first
part is run(train_step, params, opt), and the one of the second
run(train_step, params, opt, "pixel").
"""

import numpy as np

INPUTS, HIDDEN, ROWS = 6, 24, 32
BAD = 300


def start(seed=0):
    """Weights, a list of four arrays."""
    rng = np.random.default_rng(seed)
    return [
        rng.standard_normal((INPUTS, HIDDEN)) / np.sqrt(INPUTS),
        np.zeros(HIDDEN),
        rng.standard_normal(HIDDEN) / np.sqrt(HIDDEN),
        np.zeros(()),
    ]


def batches(steps, fault, seed=0):
    """Yield (x, y) for each step; the fault is "targets", "pixel" or None."""
    rng = np.random.default_rng(seed + 1000)
    w = rng.standard_normal(INPUTS) / np.sqrt(INPUTS)
    for step in range(steps):
        x = rng.standard_normal((ROWS, INPUTS))
        y = np.sin(2 * x @ w) + 0.1 * rng.standard_normal(ROWS)
        if step == BAD and fault == "targets":
            y *= 1e4
        if step == BAD and fault == "pixel":
            x[0, 0] = np.nan
        yield x, y


def loss_and_grads(params, batch):
    """The mean squared error of a batch, and its gradients."""
    w1, b1, w2, b2 = params
    x, y = batch
    hidden = np.tanh(x @ w1 + b1)
    off = hidden @ w2 + b2 - y
    grad = 2 * off / len(y)
    before = np.outer(grad, w2) * (1 - hidden * hidden)
    return float(np.mean(off**2)), [
        x.T @ before,
        before.sum(axis=0),
        hidden.T @ grad,
        np.asarray(grad.sum()),
    ]


def run(
    train_step,
    params,
    opt,
    fault="targets",
    max_norm=1.0,
    steps=400,
    seed=0,
):
    """Train; return the loss of each batch before its step, and the logs."""
    losses, logs = [], []
    for batch in batches(steps, fault, seed):
        losses.append(loss_and_grads(params, batch)[0])
        log = train_step(params, batch, loss_and_grads, opt, max_norm)
        logs.append(log)
    return losses, logs
