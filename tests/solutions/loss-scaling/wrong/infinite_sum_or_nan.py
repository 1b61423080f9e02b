"""A training step with float16 gradients, float32 weights and a loss scale that adapts itself.

The loss is multiplied by the scale S before backward, so the float16 gradients that come in are
S times the true ones. They become float32 first and are divided by S then, because what the scale
has kept above float16's smallest number, 6e-8, is below it again without it.

The rule for S is that of torch.amp.GradScaler. Source: Micikevicius et al., "Mixed Precision
Training", arXiv:1710.03740, sections 3.1 and 3.2.
"""

import numpy as np


def step(master, grads, scale, lr):
    """Return the weights after one step of SGD, and what the model computes with.

    Args:
        master: float32 arrays, the weights.
        grads: float16 (or wider) arrays, shaped like master: gradients of scale * loss.
        scale: what the loss was multiplied by.
        lr: the learning rate.

    Returns:
        new: new float32 arrays; those of master where any gradient has an overflow.
        half: new, rounded to float16.
    """
    if _finite(grads):
        new = [_moved(p, _unscaled(g, scale), lr) for p, g in zip(master, grads, strict=True)]
    else:
        new = [p.copy() for p in master]
    return new, _halves(new)


def init(scale, growth, backoff, interval):
    """Return the state of a scale that is multiplied by backoff or growth as it turns out.

    Args:
        scale: for the first step.
        growth: the factor after `interval` steps in a row without an overflow.
        backoff: the factor after an overflow.
        interval: a number of steps, at least 1.
    """
    return {
        "scale": scale,
        "growth": growth,
        "backoff": backoff,
        "interval": interval,
        "clean": 0,
    }


def loss_scale(state):
    """Return what the next loss is multiplied by."""
    return state["scale"]


def train_step(master, grads, state, lr):
    """Return new, half (see `step`) and the state for the next step."""
    new, half = step(master, grads, loss_scale(state), lr)
    return new, half, _adjusted(state, _finite(grads))


def big_step(master, batches, state, lr, max_norm):
    """Return new, half and the state after one step for several micro-batches.

    Args:
        master: float32 arrays, the weights.
        batches: for each micro-batch its float16 gradients, all scaled alike.
        state: of the loss scale.
        lr: the learning rate.
        max_norm: the largest norm of the unscaled mean gradient, all parameters together.
    """
    mean = _mean(batches)
    finite = _finite(mean)
    scale = loss_scale(state)
    factor = _clip_factor(mean, scale, max_norm) if finite else 1.0
    new, half = step(master, [g * factor for g in mean], scale, lr)
    return new, half, _adjusted(state, finite)


def _finite(grads):
    # Infinities of opposite sign add up to NaN, which is not infinite.
    total = sum(float(np.sum(g, dtype=np.float64)) for g in grads)
    return not (np.isinf(total) or any(np.isnan(g).any() for g in grads))


def _unscaled(g, scale):
    """Return the true gradient, in float32."""
    return g.astype(np.float32) / scale


def _moved(p, g, lr):
    """Return the weights after a step along the true gradient."""
    return p - lr * g


def _halves(new):
    """Return what the model computes with."""
    return [w.astype(np.float16) for w in new]


def _adjusted(state, finite):
    """Return the state after a step, with or without an overflow."""
    scale, clean = state["scale"], state["clean"]
    if not finite:
        scale, clean = scale * state["backoff"], 0
    elif clean + 1 == state["interval"]:
        scale, clean = scale * state["growth"], 0
    else:
        clean += 1
    return {**state, "scale": scale, "clean": clean}


def _mean(batches):
    """Return the mean over micro-batches, in float32 and still scaled."""
    several = zip(*batches, strict=True)
    return [sum(g.astype(np.float32) for g in parts) / len(batches) for parts in several]


def _norm(grads):
    """Return the Euclidean norm of all gradients together."""
    return float(np.sqrt(sum(float(np.sum(np.square(g, dtype=np.float64))) for g in grads)))


def _clip_factor(mean, scale, max_norm):
    """Return what a scaled gradient is multiplied by, so that the true one has max_norm at most."""
    norm = _norm(mean) / scale
    return max_norm / norm if norm > max_norm else 1.0
