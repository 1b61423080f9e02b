"""All matrices drawn first and scaled afterwards by what they do to rows; dicts by comprehension."""

import numpy as np
import tower


def unit(rng, rows, columns):
    w = rng.standard_normal((rows, columns))
    return w / np.sqrt((w**2).sum(axis=0, keepdims=True))


def init(depth, rng):
    share = np.sqrt(1 / depth)
    params = {"w_in": unit(rng, 8, 16), "w_out": unit(rng, 16, 4), "blocks": []}
    for _ in range(depth):
        u, v = unit(rng, 16, 64), unit(rng, 64, 16)
        params["blocks"].append({"u": u, "v": v * np.sqrt(2) * share, "gain": np.array(1.0)})
    return params


def grow(params, more, rng):
    behind = []
    while len(behind) < more:
        behind.append({"u": unit(rng, 16, 64), "v": unit(rng, 64, 16), "gain": np.array(0.0)})
    return {name: params[name] for name in ("w_in", "w_out")} | {
        "blocks": params["blocks"] + behind
    }


def step(params, x, y, rate=0.02):
    loss, grads = tower.loss_and_grads(params, x, y)
    new = {"w_in": None, "w_out": None, "blocks": []}
    for name in ("w_in", "w_out"):
        new[name] = np.subtract(params[name], np.multiply(rate, grads[name]))
    for i in range(len(params["blocks"])):
        block, grad = params["blocks"][i], grads["blocks"][i]
        new["blocks"].append({name: block[name] - rate * grad[name] for name in block})
    return new, loss


def causes():
    return ["scale", "fan", "zeros"]


def arriving(jacobians, grad):
    length = len(jacobians)
    found = np.zeros((length + 1, len(grad)))
    found[length] = grad
    for i in reversed(range(length)):
        for b in range(len(grad)):
            found[i, b] = found[i + 1, b]
            for a in range(len(grad)):
                found[i, b] += found[i + 1, a] * jacobians[i][a, b]
    return found


def whole(jacobians, d):
    found = np.eye(d)
    for jacobian in jacobians:
        found = jacobian.dot(found) + found
    return found


def odd_layer(weights):
    sizes = [float(np.sqrt(np.sum(w**2) / w.shape[1] / 2)) for w in weights]
    for i, size in enumerate(sizes):
        others = sorted(sizes[:i] + sizes[i + 1 :])
        middle = (others[len(others) // 2] + others[(len(others) - 1) // 2]) / 2
        if len(sizes) == 3 and max(others) > 3 * min(others):
            continue
        if not 0.3 < size / middle < 3.3:
            return i, size / middle, middle
    return None, 1.0, float(np.median(sizes))
