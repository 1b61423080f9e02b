"""A block that is cut over ranks: every list has an entry per rank."""

from collections.abc import Callable

import numpy as np
from norms import rms_backward

Array = np.ndarray
Ranks = list[Array]
AllReduce = Callable[..., Ranks]


def mlp(x: Ranks, w1: Ranks, b1: Ranks, w2: Ranks, b2: Ranks, all_reduce: AllReduce) -> Ranks:
    """Return y for every rank: two linear layers with a ReLU between them."""
    return _output(_hidden(x, w1, b1), w2, b2, all_reduce)


def mlp_backward(
    grad_y: Ranks,
    x: Ranks,
    w1: Ranks,
    b1: Ranks,
    w2: Ranks,
    b2: Ranks,  # noqa: ARG001
    all_reduce: AllReduce,
) -> tuple[Ranks, Ranks, Ranks, Ranks, Ranks]:
    """Return the gradients of x, w1, b1, w2 and b2 for every rank."""
    h = _hidden(x, w1, b1)
    grad_z = [g @ w.T * (h_r > 0) for g, w, h_r in zip(grad_y, w2, h, strict=True)]
    return (
        _grad_x([g @ w.T for g, w in zip(grad_z, w1, strict=True)], all_reduce),
        [x_r.T @ g for x_r, g in zip(x, grad_z, strict=True)],
        [g.sum(axis=0) for g in grad_z],
        [h_r.T @ g for h_r, g in zip(h, grad_y, strict=True)],
        [g.sum(axis=0) for g in grad_y],  # whole on every rank, as grad_y is
    )


def norm_backward(
    grad_h: Ranks, x: Ranks, gain: Ranks, all_reduce: AllReduce
) -> tuple[Ranks, Ranks]:
    """Return the gradients of each rank's rows, and of the gain that all share."""
    pairs = [
        rms_backward(grad, x_r, gain_r)
        for grad, x_r, gain_r in zip(_own_rows(grad_h, x), x, gain, strict=True)
    ]
    return [grad for grad, _ in pairs], _grad_gain([grad for _, grad in pairs], all_reduce)


def vocab_loss(
    logits: Ranks, targets: Ranks, all_reduce: AllReduce
) -> tuple[list[float], list[Array]]:
    """Return the mean cross-entropy for every rank, and the gradients of its logits."""
    top = _top(logits, all_reduce)
    exps = [np.exp(z - m[:, None]) for z, m in zip(logits, top, strict=True)]
    places = _places(logits, targets)
    sums = all_reduce(
        [
            np.stack([e.sum(axis=1), _chosen(z, place) - place[0] * m])
            for e, z, place, m in zip(exps, logits, places, top, strict=True)
        ]
    )
    losses = [float(np.mean(np.log(total) - target)) for total, target in sums]
    grads = [_grad(e, s[0], place) for e, s, place in zip(exps, sums, places, strict=True)]
    return losses, grads


def traffic(n: int, d: int, ranks: int, itemsize: int) -> dict[str, float]:
    """Return the bytes per layer, forward and backward together."""
    whole = n * d * itemsize
    piece = (ranks - 1) / ranks * whole  # what a rank sends in an all-gather or a reduce-scatter
    return {"reduced": 4 * whole, "sent": 4 * 2 * piece, "sent_sp": 4 * (piece + piece)}


def _hidden(x: Ranks, w1: Ranks, b1: Ranks) -> Ranks:
    """Return each rank's share of the hidden features."""
    return [np.maximum(x_r @ w + b, 0) for x_r, w, b in zip(x, w1, b1, strict=True)]


def _output(h: Ranks, w2: Ranks, b2: Ranks, all_reduce: AllReduce) -> Ranks:
    """Return the sum of what each share gives, and the bias, which belongs to no share."""
    y = all_reduce([h_r @ w for h_r, w in zip(h, w2, strict=True)])
    return [y_r + b for y_r, b in zip(y, b2, strict=True)]


def _grad_x(parts: Ranks, all_reduce: AllReduce) -> Ranks:
    """Return the gradient of x, which went into every share."""
    return all_reduce(parts)


def _own_rows(grad_h: Ranks, x: Ranks) -> Ranks:
    """Return the rows of grad_h that belong to each rank's x."""
    ends = np.cumsum([len(x_r) for x_r in x])
    return [g[end - len(x_r) : end] for g, x_r, end in zip(grad_h, x, ends, strict=True)]


def _grad_gain(parts: Ranks, all_reduce: AllReduce) -> Ranks:
    """Return the gradient of the gain, which all rows go through."""
    return all_reduce(parts)


def _top(logits: Ranks, all_reduce: AllReduce) -> Ranks:
    """Return the largest logit of every row."""
    return all_reduce([z.max(axis=1) for z in logits], "max")


def _places(logits: Ranks, targets: Ranks) -> list[tuple[Array, Array]]:
    """Return for each rank which targets it holds, and at which of its columns."""
    found, start = [], 0
    for z, t in zip(logits, targets, strict=True):
        here = (t >= start) & (t < start + z.shape[1])
        found.append((here, np.where(here, t - start, 0)))
        start += z.shape[1]
    return found


def _chosen(z: Array, place: tuple[Array, Array]) -> Array:
    """Return the logits of the targets that a rank holds, and 0 for the others."""
    here, at = place
    return np.where(here, z[np.arange(len(z)), at], 0)


def _grad(exps: Array, total: Array, place: tuple[Array, Array]) -> Array:
    """Return the gradient of one rank's logits."""
    here, at = place
    grad = exps / total[:, None]
    grad[np.arange(len(grad))[here], at[here]] -= 1
    return grad / len(grad)
