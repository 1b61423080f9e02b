"""AdamW, and a learning rate that rises linearly and falls along half a cosine.

With g the gradient of a parameter p at the t-th step that had one, entry by entry:

    m = beta1 * m + (1 - beta1) * g          v = beta2 * v + (1 - beta2) * g**2
    p = p * (1 - lr * decay) - lr * (m / (1 - beta1**t)) / (sqrt(v / (1 - beta2**t)) + eps)

The decay meets neither moment, so a weight decays at the same rate whatever its gradients are.

Sources: Kingma and Ba, "Adam", arXiv:1412.6980, algorithm 1; Loshchilov and Hutter, "Decoupled
Weight Decay Regularization", arXiv:1711.05101, algorithm 2; the order, and the factor lr of the
decay, are those of torch.optim.AdamW.
"""

import math

import numpy as np


def init(params):
    """Return what `step` needs to know of each parameter, before the first step.

    Args:
        params: arrays of any shapes, all float32 or all float64.

    Returns:
        The state: for each parameter both moments, in its dtype, and its number of steps.
    """
    return [_fresh(p) for p in params]


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    """Return the parameters after one step, and the state.

    Args:
        params: arrays of any shapes, all float32 or all float64.
        grads: for each parameter its gradient, of its shape and dtype, or None.
        state: what `init` or the step before returned; its moments are updated in place.
        lr: the learning rate.
        beta1: the share of the first moment that stays, in [0, 1).
        beta2: the share of the second moment that stays, in [0, 1).
        eps: added to the root of the corrected second moment.
        decay: the share of a weight that goes, per step and unit of lr.

    Returns:
        new: new arrays, shaped like params and of their dtype.
        state: for the next step.
    """
    new, after = [], []
    for p, g, own in zip(params, grads, state, strict=True):
        if g is None:
            new.append(p.copy())
            after.append(own)
            continue
        own = _advance(own, g, beta1, beta2)
        moved = _decayed(p, lr, decay)
        moved -= _move(own, lr, beta1, beta2, eps)
        new.append(moved)
        after.append(own)
    return new, after


def step_in_place(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    """Write the parameters after one step into their arrays, and return the state.

    At most two arrays of a parameter's size are made at once.  Arguments as for `step`.
    """
    after = []
    for p, g, own in zip(params, grads, state, strict=True):
        if g is not None:
            own = _advance(own, g, beta1, beta2)
            p *= 1 - lr * decay
            p -= _move(own, lr, beta1, beta2, eps)
        after.append(own)
    return after


def lr_at(step, peak, warmup, total):
    """Return the learning rate of a step.

    Args:
        step: counted from 1.
        peak: the learning rate at step `warmup`.
        warmup: the number of steps of the linear rise, at least 0.
        total: the step at which the rate is 0, and stays 0; more than warmup.
    """
    if step < warmup:
        return peak * step / warmup
    along = min(1.0, (step - warmup) / (total - warmup))
    return peak * 0.5 * (1 + math.cos(math.pi * along))


def _fresh(p):
    """Return the state of one parameter before its first step."""
    return {"m": np.zeros_like(p), "v": np.zeros_like(p), "steps": 0}


def _advance(own, g, beta1, beta2):
    """Return the state of one parameter with one more gradient, its moments updated in place."""
    _mix(own["m"], g, beta1)
    _mix(own["v"], _square(g), beta2)
    return {**own, "steps": own["steps"] + 1}


def _square(g):
    """Return what the second moment takes of a gradient."""
    return g * g


def _mix(moment, value, beta):
    """Let a moment fade, and add the new value, in place."""
    moment *= beta
    moment += (1 - beta) * value


def _correction(beta, steps):
    """Return the sum of the weights that a moment has given out."""
    return 1 - beta**steps


def _move(own, lr, beta1, beta2, eps):
    """Return what a step subtracts from a parameter, decay aside: one new array."""
    move = own["v"] / _correction(beta2, own["steps"])
    np.sqrt(move, out=move)
    move += eps
    np.divide(own["m"], move, out=move)
    move *= lr / _correction(beta1, own["steps"])
    return move


def _decayed(p, lr, decay):
    """Return the decayed parameter, a new array."""
    return p * (1 - lr * decay)
