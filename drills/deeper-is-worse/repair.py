"""A tower of residual blocks: where it begins, how it deepens, and a run."""

import numpy as np
import tower

INPUTS, WIDTH, HIDDEN, CLASSES = 8, 16, 64, 4


def draw(rng, rows, columns, scale):
    # why: Each output is a sum over the rows, so that these decide about its size. v has four times
    #      as many rows as columns.
    return rng.standard_normal((rows, columns)) * scale / np.sqrt(rows)


def init(depth, rng):
    return {
        "w_in": draw(rng, INPUTS, WIDTH, 1.0),
        "w_out": draw(rng, WIDTH, CLASSES, 1.0),
        "blocks": [
            {
                # why: What u gives goes through a norm, which takes any factor out again. The
                #      factor for depth belongs to v, the last matrix of the branch: then what
                #      `depth` blocks add has a mean square of 1 in all.
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
            # why: The gradient of each factor holds the other one. With both at 0 both gradients
            #      are 0, for ever; one zero is enough to add nothing at first.
            "gain": np.array(1.0),
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
    # why: The mean square of what each block adds shows the first two, and the gradients of a new
    #      block the third; the others are cleared by a print.
    return ["fan", "scale", "zeros"]


# why 2: The gradient goes through each block twice, along the identity and through the branch, so
#        that it is multiplied by I + J, the last block first; vectors are enough.
def arriving(jacobians, grad):
    found = [grad]
    for j in jacobians[::-1]:
        found.append(found[-1] + j.T @ found[-1])
    return np.array(found[::-1])


# why 2: The whole is a product, in which later blocks stand on the left.
def whole(jacobians, d):
    product = np.eye(d)
    for j in jacobians:
        product = product + j @ product
    return product


# why 3: The sum of W times its gradient is the same in all layers, so that the one with a gradient
#        far larger has weights far smaller. Sizes are compared by the root of the fan-in, with the
#        median, which one odd layer does not move.
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
    losses = held_out(params), held_out(grown)
    print("4 blocks: loss {:.4f}, with 4 more {:.4f}".format(*losses))
    few, more = held_out(fit(params, 150, 150)), held_out(fit(grown, 150, 150))
    print(f"after 150 further steps: 4 blocks {few:.4f}, 8 blocks {more:.4f}")
