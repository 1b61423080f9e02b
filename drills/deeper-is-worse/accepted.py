# %% gains-carry-the-depth
"""The factor for depth in the gains, new gains of 0, geometric means."""

import numpy as np
import tower

def matrix(rng, rows, columns, mean_square=1.0):
    return rng.normal(0.0, (mean_square / rows) ** 0.5, (rows, columns))

def init(depth, rng):
    blocks = []
    for _ in range(depth):
        u = matrix(rng, 16, 64)
        v = matrix(rng, 64, 16, 2.0)
        blocks.append({"u": u, "v": v, "gain": np.array(1 / np.sqrt(depth))})
    return {"w_in": matrix(rng, 8, 16), "w_out": matrix(rng, 16, 4), "blocks": blocks}

def grow(params, more, rng):
    new = dict(params)
    new["blocks"] = list(params["blocks"])
    for _ in range(more):
        block = {"u": matrix(rng, 16, 64), "v": matrix(rng, 64, 16, 2.0), "gain": np.zeros(())}
        new["blocks"].append(block)
    return new

def step(params, x, y, rate=0.02):
    loss, grads = tower.loss_and_grads(params, x, y)
    new = {"w_in": params["w_in"] - rate * grads["w_in"], "w_out": params["w_out"] - rate * grads["w_out"]}
    new["blocks"] = []
    for block, grad in zip(params["blocks"], grads["blocks"]):
        new["blocks"].append({k: block[k] - rate * grad[k] for k in ("u", "v", "gain")})
    return new, loss

def causes():
    return ["zeros", "scale", "fan"]

def arriving(jacobians, grad):
    rows = np.empty((len(jacobians) + 1, len(grad)))
    rows[-1] = grad
    for i in range(len(jacobians) - 1, -1, -1):
        rows[i] = rows[i + 1] + rows[i + 1] @ jacobians[i]
    return rows

def whole(jacobians, d):
    found = np.identity(d)
    for j in jacobians:
        found = (np.identity(d) + j) @ found
    return found

def odd_layer(weights):
    k = np.array([w.std() / np.sqrt(2 / w.shape[0]) for w in weights])
    middle = np.sort(k)[len(k) // 2]
    for i, one in enumerate(k):
        if one > 4 * middle or one < middle / 4:
            rest = np.exp(np.mean(np.log(np.delete(k, i))))
            return i, one / rest, rest
    return None, 1.0, np.exp(np.mean(np.log(k)))

# %% uniform-weights
"""Uniform draws, recursion over blocks, deepcopy in the step, lists compared in pairs."""

import copy
import math

import numpy as np
import tower

def uniform(rng, shape, gain=1.0):
    bound = gain * math.sqrt(3.0 / shape[0])
    return rng.uniform(-bound, bound, shape)

def init(depth, rng):
    def block():
        return {
            "u": uniform(rng, (16, 64)),
            "v": uniform(rng, (64, 16), math.sqrt(2.0) / math.sqrt(depth)),
            "gain": np.array(1.0),
        }
    return {
        "blocks": [block() for _ in range(depth)],
        "w_in": uniform(rng, (8, 16)),
        "w_out": uniform(rng, (16, 4), 0.1),
    }

def grow(params, more, rng):
    if more == 0:
        return params
    block = {"u": uniform(rng, (16, 64)), "v": np.zeros((64, 16)), "gain": np.array(1.0)}
    return grow({**params, "blocks": [*params["blocks"], block]}, more - 1, rng)

def step(params, x, y, rate=0.02):
    loss, grads = tower.loss_and_grads(params, x, y)
    new = copy.deepcopy(params)
    new["w_in"] -= rate * grads["w_in"]
    new["w_out"] -= rate * grads["w_out"]
    for block, grad in zip(new["blocks"], grads["blocks"]):
        for name in grad:
            block[name] = block[name] - rate * grad[name]
    return new, loss

def causes():
    return {"fan", "scale", "zeros"} and ["fan", "zeros", "scale"]

def arriving(jacobians, grad):
    if len(jacobians) == 0:
        return np.array([grad])
    rest = arriving(jacobians[1:], grad)
    return np.vstack([rest[0] + jacobians[0].T @ rest[0], rest])

def whole(jacobians, d):
    if len(jacobians) == 0:
        return np.eye(d)
    return whole(jacobians[1:], d) @ (np.eye(d) + jacobians[0])

def odd_layer(weights):
    logs = [0.5 * math.log(float((w * w).mean()) * w.shape[0] / 2) for w in weights]
    n = len(logs)
    far = [sum(abs(a - b) > math.log(3) for b in logs) for a in logs]
    odd = [i for i in range(n) if far[i] == n - 1]
    rest = [v for i, v in enumerate(logs) if i not in odd]
    common = math.exp(sum(rest) / len(rest))
    if not odd:
        return None, 1, common
    return odd[0], math.exp(logs[odd[0]]) / common, common

# %% orthogonal-v
"""Orthogonal columns in v, a trained v scaled afterwards, functools.reduce."""

import functools

import numpy as np
import tower

def normal(rng, a, b):
    return rng.standard_normal((a, b)) * a**-0.5

def block(rng, depth):
    q, _ = np.linalg.qr(rng.standard_normal((64, 16)))
    return {"u": normal(rng, 16, 64), "v": q * np.sqrt(2.0 / depth), "gain": np.float64(1.0) * np.ones(())}

def init(depth, rng):
    return dict(
        w_in=normal(rng, 8, 16),
        w_out=normal(rng, 16, 4),
        blocks=[block(rng, depth) for _ in range(depth)],
    )

def grow(params, more, rng):
    fresh = [block(rng, len(params["blocks"]) + more) for _ in range(more)]
    for one in fresh:
        one["gain"] = np.array(0.0)
    return {**params, "blocks": params["blocks"] + fresh}

def descend(value, grad, rate):
    if isinstance(value, dict):
        return {k: descend(value[k], grad[k], rate) for k in value}
    if isinstance(value, list):
        return [descend(v, g, rate) for v, g in zip(value, grad)]
    return value - rate * grad

def step(params, x, y, rate=0.02):
    loss, grads = tower.loss_and_grads(params, x, y)
    return descend(params, grads, rate), loss

def causes():
    return ["scale", "fan", "zeros"]

def arriving(jacobians, grad):
    eye = np.eye(len(grad))
    out = [grad]
    for j in reversed(list(jacobians)):
        out.insert(0, (eye + j).T @ out[0])
    return np.stack(out)

def whole(jacobians, d):
    eye = np.eye(d)
    return functools.reduce(lambda p, j: (eye + j) @ p, jacobians, eye)

def odd_layer(weights):
    sizes = [np.linalg.norm(w) / np.sqrt(2 * w.shape[1]) for w in weights]
    order = np.argsort(sizes)
    low, high, common = order[0], order[-1], float(np.median(sizes))
    if sizes[high] / common > 3:
        return int(high), sizes[high] / common, common
    if common / sizes[low] > 3:
        return int(low), sizes[low] / common, common
    return None, 1.0, common

# %% a-class
"""A class that draws, einsum in the Jacobians, column sums of squares for sizes."""

import numpy as np
import tower

class Draw:
    def __init__(self, rng):
        self.rng = rng

    def __call__(self, shape, variance=1.0):
        return self.rng.normal(size=shape) * np.sqrt(variance / shape[0])

    def block(self, share=None):
        v = np.zeros((64, 16)) if share is None else self((64, 16), 2 * share)
        return {"u": self((16, 64)), "v": v, "gain": np.asarray(1.0)}

def init(depth, rng):
    draw = Draw(rng)
    params = {"w_in": draw((8, 16)), "blocks": [], "w_out": draw((16, 4))}
    while len(params["blocks"]) < depth:
        params["blocks"].append(draw.block(1 / depth))
    return params

def grow(params, more, rng):
    draw = Draw(rng)
    return {**params, "blocks": [*params["blocks"], *(draw.block() for _ in range(more))]}

def step(params, x, y, rate=0.02):
    loss, g = tower.loss_and_grads(params, x, y)
    blocks = [
        dict(u=b["u"] - rate * h["u"], v=b["v"] - rate * h["v"], gain=b["gain"] - rate * h["gain"])
        for b, h in zip(params["blocks"], g["blocks"])
    ]
    return dict(w_in=params["w_in"] - rate * g["w_in"], blocks=blocks, w_out=params["w_out"] - rate * g["w_out"]), loss

def causes():
    return ["fan", "scale", "zeros"]

def arriving(jacobians, grad):
    found = {len(jacobians): np.asarray(grad)}
    for i in range(len(jacobians), 0, -1):
        found[i - 1] = found[i] + np.einsum("ab,a->b", jacobians[i - 1], found[i])
    return np.array([found[i] for i in range(len(jacobians) + 1)])

def whole(jacobians, d):
    out = np.eye(d)
    for j in jacobians:
        out += np.einsum("ab,bc->ac", j, out)
    return out

def odd_layer(weights):
    sizes = np.sqrt([np.median((w**2).sum(axis=0)) / 2 for w in weights])
    common = np.median(sizes)
    ratios = sizes / common
    odd = np.flatnonzero((ratios > 2.5) | (ratios < 0.4))
    if len(odd) == 0:
        return None, 1.0, common
    return int(odd[0]), float(ratios[odd[0]]), common

# %% by-vectors
"""The whole derivative column by column, the scale of layers by what they do to rows."""

import numpy as np
import tower

def weights(rng, a, b, scale=1.0):
    return scale / a**0.5 * rng.standard_normal((a, b))

def init(depth, rng):
    params = {"w_in": weights(rng, 8, 16), "w_out": weights(rng, 16, 4)}
    params["blocks"] = [
        {"gain": np.array(1.0), "v": weights(rng, 64, 16, depth**-0.5), "u": weights(rng, 16, 64)}
        for _ in range(depth)
    ]
    return params

def grow(params, more, rng):
    blocks = [dict(block) for block in params["blocks"]]
    for _ in range(more):
        blocks.append({"u": weights(rng, 16, 64), "v": weights(rng, 64, 16), "gain": np.array(0.0)})
    return {"w_in": params["w_in"], "w_out": params["w_out"], "blocks": blocks}

def step(params, x, y, rate=0.02):
    loss, grads = tower.loss_and_grads(params, x, y)
    moved = lambda a, g: a + (-rate) * g
    return {
        "w_in": moved(params["w_in"], grads["w_in"]),
        "w_out": moved(params["w_out"], grads["w_out"]),
        "blocks": [
            {name: moved(b[name], g[name]) for name in g}
            for b, g in zip(params["blocks"], grads["blocks"])
        ],
    }, loss

def causes():
    return ("zeros", "fan", "scale")

def arriving(jacobians, grad):
    g, out = np.array(grad, float), []
    for j in jacobians[::-1]:
        out.append(g.copy())
        g = g + np.dot(g, j)
    return np.array([g, *out[::-1]])

def whole(jacobians, d):
    columns = []
    for k in range(d):
        v = np.zeros(d)
        v[k] = 1
        for j in jacobians:
            v = v + j @ v
        columns.append(v)
    return np.column_stack(columns)

def odd_layer(weights):
    rng = np.random.default_rng(0)
    sizes = []
    for w in weights:
        x = rng.standard_normal((4000, len(w)))
        sizes.append(float(np.sqrt(np.mean((x @ w) ** 2) / 2)))
    for i, size in enumerate(sizes):
        others = sizes[:i] + sizes[i + 1 :]
        if all(size > 3 * o for o in others) or all(3 * size < o for o in others):
            common = sum(others) / len(others)
            return i, size / common, common
    return None, 1.0, sum(sizes) / len(sizes)

# %% in-logarithms
"""All scales in base 2, normal draws cut at three deviations, np.linalg.multi_dot's order by hand."""

import numpy as np
import tower

def cut(rng, rows, columns, factor=1.0):
    return np.clip(rng.standard_normal((rows, columns)), -3, 3) * (factor / np.sqrt(rows))

def init(depth, rng):
    factor = 2 ** ((1 - np.log2(depth)) / 2)
    blocks = [
        {"u": cut(rng, 16, 64, 5.0), "v": cut(rng, 64, 16, factor), "gain": np.array(1.0)}
        for _ in range(depth)
    ]
    return {"w_in": cut(rng, 8, 16), "w_out": cut(rng, 16, 4), "blocks": blocks}

def grow(params, more, rng):
    first = cut(rng, 16, 64)
    new = [{"u": np.roll(first, i, axis=1) + 0.01 * cut(rng, 16, 64), "v": np.zeros((64, 16)), "gain": np.array(2.0)}
           for i in range(more)]
    return params | {"blocks": params["blocks"] + new}

def step(params, x, y, rate=0.02):
    loss, grads = tower.loss_and_grads(params, x, y)
    out = {k: params[k] - rate * grads[k] for k in params if k != "blocks"}
    out["blocks"] = [
        {k: b[k] - rate * g[k] for k in b} for b, g in zip(params["blocks"], grads["blocks"])
    ]
    return out, float(loss)

def causes():
    return ["fan", "scale", "zeros"]

def arriving(jacobians, grad):
    d = len(grad)
    products = [np.eye(d)]
    for j in jacobians[::-1]:
        products.append(products[-1] @ (np.eye(d) + j))
    return np.array([grad @ p for p in products[::-1]])

def whole(jacobians, d):
    left = np.eye(d)
    for j in jacobians[::-1]:
        left = left @ (np.eye(d) + j)
    return left

def odd_layer(weights):
    logs = np.array([0.5 * np.log2((w**2).mean() * w.shape[0] / 2) for w in weights])
    gaps = np.abs(logs - np.median(logs))
    i = int(np.argmax(gaps))
    keep = np.arange(len(logs)) != (i if gaps[i] > np.log2(3) else -1)
    common = 2 ** logs[keep].mean()
    return (None, 1.0, common) if keep.all() else (i, 2 ** logs[i] / common, common)

# %% the-script-mended
# part: 1
"""The script with three lines changed."""

import numpy as np
import tower

def draw(rng, rows, columns, scale):
    return rng.standard_normal((rows, columns)) * scale / np.sqrt(rows)

def init(depth, rng):
    return {
        "w_in": draw(rng, 8, 16, 1.0),
        "w_out": draw(rng, 16, 4, 1.0),
        "blocks": [
            {
                "u": draw(rng, 16, 64, depth**-0.5),
                "v": draw(rng, 64, 16, (2 / depth) ** 0.5),
                "gain": np.array(1.0),
            }
            for _ in range(depth)
        ],
    }

def grow(params, more, rng):
    blocks = [
        {"u": draw(rng, 16, 64, 1.0), "v": draw(rng, 64, 16, 1.0), "gain": np.array(0.0)}
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
    return ["scale", "zeros", "fan"]

# %% generators
"""Blocks from generators, weights with a float gain, a fold from the right, quantiles."""

import itertools

import numpy as np
import tower

def matrices(rng):
    def one(rows, columns, variance=1.0):
        return rng.standard_normal((rows, columns)) * np.sqrt(variance) / np.sqrt(rows)
    return one

def fresh(rng, variance, gain):
    one = matrices(rng)
    while True:
        yield {"u": one(16, 64), "v": one(64, 16, variance), "gain": np.array(float(gain))}

def init(depth, rng):
    one = matrices(rng)
    head = {"w_in": one(8, 16), "w_out": one(16, 4)}
    return head | {"blocks": list(itertools.islice(fresh(rng, 1.5 / depth, 1), depth))}

def grow(params, more, rng):
    chain = itertools.chain(params["blocks"], itertools.islice(fresh(rng, 1.0, 0), more))
    return params | {"blocks": list(chain)}

def step(params, x, y, rate=0.02):
    loss, grads = tower.loss_and_grads(params, x, y)
    blocks = map(lambda pair: {k: pair[0][k] - rate * pair[1][k] for k in pair[0]}, zip(params["blocks"], grads["blocks"]))
    return {k: params[k] - rate * grads[k] for k in ("w_in", "w_out")} | {"blocks": list(blocks)}, loss

def causes():
    return ["fan", "scale", "zeros"]

def arriving(jacobians, grad):
    steps = itertools.accumulate(reversed(jacobians), lambda g, j: g + g @ j, initial=grad)
    return np.array(list(steps))[::-1]

def whole(jacobians, d):
    *_, last = itertools.accumulate(jacobians, lambda p, j: p + j @ p, initial=np.eye(d))
    return last

def odd_layer(weights):
    sizes = np.array([np.sqrt(np.var(w) * w.shape[0] / 2) for w in weights])
    lower, upper = sorted(sizes)[0], sorted(sizes)[-1]
    common = float(np.quantile(sizes, 0.5))
    for size in (lower, upper):
        if max(size / common, common / size) > 3.5:
            return list(sizes).index(size), float(size) / common, common
    return None, 1.0, common
