"""A tower that is as well at any depth, blocks that begin as nothing and learn, and two reports."""

import numpy as np
import tower

INPUTS, WIDTH, HIDDEN, CLASSES = 8, 16, 64, 4
FAR = 3.0  # a layer that is this many times off is odd; others differ by how they were drawn


def init(depth, rng):
    """Return the parameters of a tower of some depth; each block adds a mean square of 1/depth."""
    return {
        "w_in": _draw(rng, INPUTS, WIDTH, 1.0),
        "w_out": _draw(rng, WIDTH, CLASSES, 1.0),
        "blocks": [_block(rng, *_scales(depth)) for _ in range(depth)],
    }


def grow(params, more, rng):
    """Return params with further blocks behind the others, which add nothing at first."""
    return {**params, "blocks": params["blocks"] + [_new(rng) for _ in range(more)]}


def step(params, x, y, rate=0.02):
    """Return the parameters after a step of gradient descent, and the loss before it."""
    loss, grads = tower.loss_and_grads(params, x, y)
    new = {name: params[name] - rate * grads[name] for name in ("w_in", "w_out")}
    new["blocks"] = [
        {name: block[name] - rate * grad[name] for name in block}
        for block, grad in zip(params["blocks"], grads["blocks"], strict=True)
    ]
    return new, loss


def causes():
    """What was wrong with the script."""
    return ["fan", "scale", "zeros"]


def arriving(jacobians, grad):
    """Return the gradients by h_0 to h_L, (L + 1, d), from that by h_L.

    Args:
        jacobians: (L, d, d), of each branch by what comes in: rows are outputs.
        grad: (d,).
    """
    found = [grad]
    for j in jacobians[::-1]:
        found.append(_back(j, found[-1]))
    return np.array(found[::-1])


def whole(jacobians, d):
    """Return the derivative of h_L by h_0, (d, d): rows are entries of h_L."""
    product = np.eye(d)
    for j in jacobians:
        product = _further(j, product)
    return product


def odd_layer(weights):
    """Return which layer of a ReLU chain is out of scale, by how much, and the scale of the others.

    Args:
        weights: a list of arrays (fan_in, fan_out).
    """
    sizes = np.array([_size(w) for w in weights])
    common = np.median(sizes)
    odd = int(np.argmax(np.abs(np.log(sizes / common))))
    if 1 / FAR < sizes[odd] / common < FAR:
        return None, 1.0, float(common)
    return odd, float(sizes[odd] / common), float(np.median(np.delete(sizes, odd)))


def _draw(rng, rows, columns, scale):
    """Weights whose outputs have `scale` times the size of their inputs: rows are the fan-in."""
    return rng.standard_normal((rows, columns)) * scale / np.sqrt(rows)


def _scales(depth):
    """Those of u and v.  The norm behind u undoes any; relu halves the mean square before v."""
    return 1.0, np.sqrt(2 / depth)


def _block(rng, of_u, of_v):
    u = _draw(rng, WIDTH, HIDDEN, of_u)
    return {"u": u, "v": _draw(rng, HIDDEN, WIDTH, of_v), "gain": np.array(1.0)}


def _new(rng):
    """A block of which one factor is 0 and no other."""
    return {**_block(rng, 1.0, 1.0), "v": np.zeros((HIDDEN, WIDTH))}


def _back(j, grad):
    return grad + j.T @ grad


def _further(j, product):
    return product + j @ product


def _size(w):
    """The standard deviation of weights as a multiple of what keeps the size of a ReLU chain."""
    return np.sqrt(np.mean(w**2) * len(w) / 2)
