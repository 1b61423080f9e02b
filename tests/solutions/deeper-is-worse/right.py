# %% entry_at_the_least
"""x @ w_in has a mean square of 0.7 in every tower, the least there may be."""

import numpy as np
import tower

INPUTS, WIDTH, HIDDEN, CLASSES = 8, 16, 64, 4


def draw(rng, rows, columns, scale):
    return rng.standard_normal((rows, columns)) * scale / np.sqrt(rows)


def init(depth, rng):
    return {
        "w_in": np.linalg.qr(rng.standard_normal((WIDTH, INPUTS)))[0].T * (2 * 0.7) ** 0.5,
        "w_out": draw(rng, WIDTH, CLASSES, 1.0),
        "blocks": [
            {
                "u": draw(rng, WIDTH, HIDDEN, 1.0),
                "v": draw(rng, HIDDEN, WIDTH, (2 / depth) ** 0.5),
                "gain": np.array(1.0),
            }
            for _ in range(depth)
        ],
    }


def grow(params, more, rng):
    blocks = [
        {
            "u": draw(rng, WIDTH, HIDDEN, 1.0),
            "v": np.zeros((HIDDEN, WIDTH)),
            "gain": np.array(1.0),
        }
        for _ in range(more)
    ]
    return {**params, "blocks": params["blocks"] + blocks}


def step(params, x, y, rate=0.02):
    loss, grads = tower.loss_and_grads(params, x, y)
    new = {name: params[name] - rate * grads[name] for name in ("w_in", "w_out")}
    new["blocks"] = [
        {name: block[name] - rate * grad[name] for name in block}
        for block, grad in zip(params["blocks"], grads["blocks"])
    ]
    return new, loss


def causes():
    return ["fan", "scale", "zeros"]


def arriving(jacobians, grad):
    grads = [grad]
    for jac in jacobians[::-1]:
        grads.append(grads[-1] + jac.T @ grads[-1])
    return np.array(grads[::-1])


def whole(jacobians, d):
    total = np.eye(d)
    for jac in jacobians:
        total = total + jac @ total
    return total


def odd_layer(weights):
    ms = np.array([np.mean(np.square(w)) * w.shape[0] / 2 for w in weights])
    k = np.sqrt(ms)
    far = np.abs(np.log(k / np.median(k)))
    i = int(np.argmax(far))
    sizes = np.array([w.size for w in weights], float)
    if far[i] < np.log(3):
        return None, 1.0, float(np.sqrt(np.average(ms, weights=sizes)))
    sizes[i] = 0
    common = float(np.sqrt(np.average(ms, weights=sizes)))
    return i, float(k[i] / common), common


def fit(params, steps, first=0):
    for i in range(first, first + steps):
        params, _ = step(params, *tower.rows(i, 64))
    return params


def held_out(params):
    return tower.loss_and_grads(params, *tower.rows(9999, 1000))[0]


if __name__ == "__main__":
    for depth in (4, 32):
        params = init(depth, np.random.default_rng(0))
        first, last = held_out(params), held_out(fit(params, 150))
        print(f"{depth:2} blocks: loss {first:.2f}, after 150 steps {last:.2f}")
    params = fit(init(4, np.random.default_rng(0)), 150)
    grown = grow(params, 4, np.random.default_rng(1))
    print(f"4 blocks: loss {held_out(params):.4f}, with 4 more {held_out(grown):.4f}")
    few, more = held_out(fit(params, 150, 150)), held_out(fit(grown, 150, 150))
    print(f"after 150 further steps: 4 blocks {few:.4f}, 8 blocks {more:.4f}")


# %% entry_at_the_most
"""x @ w_in has a mean square of 1.4 in every tower, the most there may be."""

import numpy as np
import tower

INPUTS, WIDTH, HIDDEN, CLASSES = 8, 16, 64, 4


def draw(rng, rows, columns, scale):
    return rng.standard_normal((rows, columns)) * scale / np.sqrt(rows)


def init(depth, rng):
    return {
        "w_in": np.linalg.qr(rng.standard_normal((WIDTH, INPUTS)))[0].T * (2 * 1.4) ** 0.5,
        "w_out": draw(rng, WIDTH, CLASSES, 1.0),
        "blocks": [
            {
                "u": draw(rng, WIDTH, HIDDEN, 1.0),
                "v": draw(rng, HIDDEN, WIDTH, (2 / depth) ** 0.5),
                "gain": np.array(1.0),
            }
            for _ in range(depth)
        ],
    }


def grow(params, more, rng):
    blocks = [
        {
            "u": draw(rng, WIDTH, HIDDEN, 1.0),
            "v": np.zeros((HIDDEN, WIDTH)),
            "gain": np.array(1.0),
        }
        for _ in range(more)
    ]
    return {**params, "blocks": params["blocks"] + blocks}


def step(params, x, y, rate=0.02):
    loss, grads = tower.loss_and_grads(params, x, y)
    new = {name: params[name] - rate * grads[name] for name in ("w_in", "w_out")}
    new["blocks"] = [
        {name: block[name] - rate * grad[name] for name in block}
        for block, grad in zip(params["blocks"], grads["blocks"])
    ]
    return new, loss


def causes():
    return ["fan", "scale", "zeros"]


def arriving(jacobians, grad):
    grads = [grad]
    for jac in jacobians[::-1]:
        grads.append(grads[-1] + jac.T @ grads[-1])
    return np.array(grads[::-1])


def whole(jacobians, d):
    total = np.eye(d)
    for jac in jacobians:
        total = total + jac @ total
    return total


def odd_layer(weights):
    ms = np.array([np.mean(np.square(w)) * w.shape[0] / 2 for w in weights])
    k = np.sqrt(ms)
    far = np.abs(np.log(k / np.median(k)))
    i = int(np.argmax(far))
    sizes = np.array([w.size for w in weights], float)
    if far[i] < np.log(3):
        return None, 1.0, float(np.sqrt(np.average(ms, weights=sizes)))
    sizes[i] = 0
    common = float(np.sqrt(np.average(ms, weights=sizes)))
    return i, float(k[i] / common), common


def fit(params, steps, first=0):
    for i in range(first, first + steps):
        params, _ = step(params, *tower.rows(i, 64))
    return params


def held_out(params):
    return tower.loss_and_grads(params, *tower.rows(9999, 1000))[0]


if __name__ == "__main__":
    for depth in (4, 32):
        params = init(depth, np.random.default_rng(0))
        first, last = held_out(params), held_out(fit(params, 150))
        print(f"{depth:2} blocks: loss {first:.2f}, after 150 steps {last:.2f}")
    params = fit(init(4, np.random.default_rng(0)), 150)
    grown = grow(params, 4, np.random.default_rng(1))
    print(f"4 blocks: loss {held_out(params):.4f}, with 4 more {held_out(grown):.4f}")
    few, more = held_out(fit(params, 150, 150)), held_out(fit(grown, 150, 150))
    print(f"after 150 further steps: 4 blocks {few:.4f}, 8 blocks {more:.4f}")


# %% entry_drawn_at_the_least
"""x @ w_in has a mean square of 0.7, on average over towers."""

import numpy as np
import tower

INPUTS, WIDTH, HIDDEN, CLASSES = 8, 16, 64, 4


def draw(rng, rows, columns, scale):
    return rng.standard_normal((rows, columns)) * scale / np.sqrt(rows)


def init(depth, rng):
    return {
        "w_in": draw(rng, INPUTS, WIDTH, 0.7**0.5),
        "w_out": draw(rng, WIDTH, CLASSES, 1.0),
        "blocks": [
            {
                "u": draw(rng, WIDTH, HIDDEN, 1.0),
                "v": draw(rng, HIDDEN, WIDTH, (2 / depth) ** 0.5),
                "gain": np.array(1.0),
            }
            for _ in range(depth)
        ],
    }


def grow(params, more, rng):
    blocks = [
        {
            "u": draw(rng, WIDTH, HIDDEN, 1.0),
            "v": np.zeros((HIDDEN, WIDTH)),
            "gain": np.array(1.0),
        }
        for _ in range(more)
    ]
    return {**params, "blocks": params["blocks"] + blocks}


def step(params, x, y, rate=0.02):
    loss, grads = tower.loss_and_grads(params, x, y)
    new = {name: params[name] - rate * grads[name] for name in ("w_in", "w_out")}
    new["blocks"] = [
        {name: block[name] - rate * grad[name] for name in block}
        for block, grad in zip(params["blocks"], grads["blocks"])
    ]
    return new, loss


def causes():
    return ["fan", "scale", "zeros"]


def arriving(jacobians, grad):
    grads = [grad]
    for jac in jacobians[::-1]:
        grads.append(grads[-1] + jac.T @ grads[-1])
    return np.array(grads[::-1])


def whole(jacobians, d):
    total = np.eye(d)
    for jac in jacobians:
        total = total + jac @ total
    return total


def odd_layer(weights):
    ms = np.array([np.mean(np.square(w)) * w.shape[0] / 2 for w in weights])
    k = np.sqrt(ms)
    far = np.abs(np.log(k / np.median(k)))
    i = int(np.argmax(far))
    sizes = np.array([w.size for w in weights], float)
    if far[i] < np.log(3):
        return None, 1.0, float(np.sqrt(np.average(ms, weights=sizes)))
    sizes[i] = 0
    common = float(np.sqrt(np.average(ms, weights=sizes)))
    return i, float(k[i] / common), common


def fit(params, steps, first=0):
    for i in range(first, first + steps):
        params, _ = step(params, *tower.rows(i, 64))
    return params


def held_out(params):
    return tower.loss_and_grads(params, *tower.rows(9999, 1000))[0]


if __name__ == "__main__":
    for depth in (4, 32):
        params = init(depth, np.random.default_rng(0))
        first, last = held_out(params), held_out(fit(params, 150))
        print(f"{depth:2} blocks: loss {first:.2f}, after 150 steps {last:.2f}")
    params = fit(init(4, np.random.default_rng(0)), 150)
    grown = grow(params, 4, np.random.default_rng(1))
    print(f"4 blocks: loss {held_out(params):.4f}, with 4 more {held_out(grown):.4f}")
    few, more = held_out(fit(params, 150, 150)), held_out(fit(grown, 150, 150))
    print(f"after 150 further steps: 4 blocks {few:.4f}, 8 blocks {more:.4f}")


# %% scaled_when_all_are_drawn
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


# %% style_a
"""Style: that of rate_divided_by_depth and others, repaired."""

import numpy as np
import tower

INPUTS, WIDTH, HIDDEN, CLASSES = 8, 16, 64, 4


def draw(rng, rows, columns, scale):
    return rng.standard_normal((rows, columns)) * scale / np.sqrt(rows)


def init(depth, rng):
    return {
        "w_in": draw(rng, INPUTS, WIDTH, 1.0),
        "w_out": draw(rng, WIDTH, CLASSES, 1.0),
        "blocks": [
            {
                "u": draw(rng, WIDTH, HIDDEN, 1.0),
                "v": draw(rng, HIDDEN, WIDTH, (2 / depth) ** 0.5),
                "gain": np.array(1.0),
            }
            for _ in range(depth)
        ],
    }


def grow(params, more, rng):
    blocks = [
        {
            "u": draw(rng, WIDTH, HIDDEN, 1.0),
            "v": np.zeros((HIDDEN, WIDTH)),
            "gain": np.array(1.0),
        }
        for _ in range(more)
    ]
    return {**params, "blocks": params["blocks"] + blocks}


def step(params, x, y, rate=0.02):
    loss, grads = tower.loss_and_grads(params, x, y)
    new = {name: params[name] - rate * grads[name] for name in ("w_in", "w_out")}
    new["blocks"] = [
        {name: block[name] - rate * grad[name] for name in block}
        for block, grad in zip(params["blocks"], grads["blocks"])
    ]
    return new, loss


def causes():
    return ["fan", "scale", "zeros"]


def arriving(jacobians, grad):
    found = [grad]
    for j in jacobians[::-1]:
        found.append(found[-1] + j.T @ found[-1])
    return np.array(found[::-1])


def whole(jacobians, d):
    product = np.eye(d)
    for j in jacobians:
        product = product + j @ product
    return product


def odd_layer(weights):
    sizes = np.array([np.sqrt(np.mean(w**2) * len(w) / 2) for w in weights])
    common = np.median(sizes)
    off = np.abs(np.log(sizes / common))
    odd = int(off.argmax())
    if off[odd] < np.log(3):
        return None, 1.0, common
    return odd, sizes[odd] / common, np.median(np.delete(sizes, odd))


def fit(params, steps, first=0):
    for i in range(first, first + steps):
        params, _ = step(params, *tower.rows(i, 64))
    return params


def held_out(params):
    return tower.loss_and_grads(params, *tower.rows(9999, 1000))[0]


if __name__ == "__main__":
    for depth in (4, 32):
        params = init(depth, np.random.default_rng(0))
        first, last = held_out(params), held_out(fit(params, 150))
        print(f"{depth:2} blocks: loss {first:.2f}, after 150 steps {last:.2f}")
    params = fit(init(4, np.random.default_rng(0)), 150)
    grown = grow(params, 4, np.random.default_rng(1))
    print(f"4 blocks: loss {held_out(params):.4f}, with 4 more {held_out(grown):.4f}")
    few, more = held_out(fit(params, 150, 150)), held_out(fit(grown, 150, 150))
    print(f"after 150 further steps: 4 blocks {few:.4f}, 8 blocks {more:.4f}")
