"""The new blocks of grow have the same u."""

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
    block = {
        "u": draw(rng, WIDTH, HIDDEN, 1.0),
        "v": np.zeros((HIDDEN, WIDTH)),
        "gain": np.array(1.0),
    }
    blocks = [{k: a.copy() for k, a in block.items()} for _ in range(more)]
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
