"""A tower of residual blocks: where it begins, how it deepens, and a run."""

import numpy as np
import tower

INPUTS, WIDTH, HIDDEN, CLASSES = 8, 16, 64, 4


def draw(rng, rows, columns, scale):
    return rng.standard_normal((rows, columns)) * scale / np.sqrt(columns)


def init(depth, rng):
    return {
        "w_in": draw(rng, INPUTS, WIDTH, 1.0),
        "w_out": draw(rng, WIDTH, CLASSES, 1.0),
        "blocks": [
            {
                "u": draw(rng, WIDTH, HIDDEN, depth**-0.5),
                "v": draw(rng, HIDDEN, WIDTH, 2**0.5),
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
            "gain": np.array(0.0),
        }
        for _ in range(more)
    ]
    return {**params, "blocks": params["blocks"] + blocks}


def step(params, x, y, rate=0.02):
    loss, grads = tower.loss_and_grads(params, x, y)
    ends = ("w_in", "w_out")
    new = {name: params[name] - rate * grads[name] for name in ends}
    new["blocks"] = [
        {name: block[name] - rate * grad[name] for name in block}
        for block, grad in zip(params["blocks"], grads["blocks"])
    ]
    return new, loss


def causes():
    return []


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
    losses = held_out(params), held_out(grown)
    print("4 blocks: loss {:.4f}, with 4 more {:.4f}".format(*losses))
    few, more = held_out(fit(params, 150, 150)), held_out(fit(grown, 150, 150))
    print(f"after 150 further steps: 4 blocks {few:.4f}, 8 blocks {more:.4f}")
