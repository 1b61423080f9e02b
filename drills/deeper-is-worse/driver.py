"""How a tower begins, what new blocks do, and chains of layers that are out of scale."""

import itertools

import numpy as np
import tower

DEEP = [7] * 60 + [32] * 20 + [100] * 6  # depths of towers whose w_in is looked at


def _normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def begun(program, few, many, seeds):
    """Return what each block of towers adds, on 300 rows of standard normal numbers.

    Returns the mean squares by tower, of depths 1, few, many and 100 for each seed.
    """
    found = []
    for seed in map(int, seeds):
        x = _normal([seed, 2], 300, 8)
        for depth in (1, int(few), int(many), 100):
            params = program.init(depth, np.random.default_rng(seed + depth))
            h = x @ params["w_in"]
            added = []
            for block in params["blocks"]:
                more = tower.branch(block, h)
                added.append(float(np.mean(more**2)))
                h = h + more
            found.append(np.array(added))
    return found


def start(added, few, many):
    """Return for each tower the largest and the smallest share of a block, the worst last.

    A share is a mean square times the depth that was asked for; that of a block too few is NaN.
    """
    depths = [1, int(few), int(many), 100] * (len(added) // 4)
    shares = [
        depth * one if len(one) == depth else np.array([np.nan])
        for depth, one in zip(depths, added, strict=True)
    ]
    largest, smallest = ([float(of(one)) for one in shares] for of in (np.max, np.min))
    return sorted(largest), sorted(smallest, reverse=True)


def entered(program, shallow, seeds):
    """Return the mean squares of x @ w_in, of towers of one block and of deeper towers.

    Over rows of standard normal numbers the mean is exact.
    """
    found = []
    for k, depths in enumerate(([1] * int(shallow), DEEP)):
        rng = np.random.default_rng([int(seeds[0]), k])
        found.append(np.array([np.sum(program.init(n, rng)["w_in"] ** 2) / 16 for n in depths]))
    return found


def entry(found, shallow):
    """Return the least and the most that the mean square of x @ w_in may be, over all towers.

    It is between the two but for a chance of one in a million; weights that are drawn have a mean
    square that differs from tower to tower. If towers are missing, the bounds are NaN.
    """
    if [len(one) for one in found] != [shallow, len(DEEP)]:
        return [np.nan], [np.nan]
    means = [(float(np.mean(one)), 5 * np.std(one) / np.sqrt(len(one)) + 1e-9) for one in found]
    least = sorted(float(mean - chance) for mean, chance in means)
    most = sorted((float(mean + chance) for mean, chance in means), reverse=True)
    return least, most


def three(program, depth, seed):
    """Return a tower, one from the same numbers, and one from others."""
    seeds = (int(seed), int(seed), int(seed) + 1)
    return [program.init(int(depth), np.random.default_rng(one)) for one in seeds]


def shapes(towers):
    """Return the shapes of a tower, and whether the generator decides about it."""
    first, again, other = towers

    def every(params):
        yield from (params["w_in"], params["w_out"])
        for block in params["blocks"]:
            yield from (block["u"], block["v"], np.asarray(block["gain"]))

    same = all(np.array_equal(a, b) for a, b in zip(every(first), every(again), strict=True))
    moved = not np.array_equal(first["w_in"], other["w_in"])
    us = [block["u"] for block in first["blocks"]]
    apart = all(not np.array_equal(us[0], u) for u in us[1:])
    return [list(np.shape(a)) for a in every(first)], [same, moved, apart]


def _trained(seed, depth=3):
    """A tower of which nobody's init knows."""
    rng = np.random.default_rng(seed)

    def draw(rows, columns):
        return rng.standard_normal((rows, columns)) / np.sqrt(rows)

    blocks = [
        {"u": draw(16, 64), "v": draw(64, 16), "gain": np.array(0.5 + 0.1 * i)}
        for i in range(depth)
    ]
    return {"w_in": draw(8, 16), "w_out": draw(16, 4), "blocks": blocks}


def deeper(program, more, seed):
    """Return a trained tower of three blocks, made deeper."""
    return program.grow(_trained(int(seed)), int(more), np.random.default_rng(int(seed)))


def grown(found, x, seed):
    """The logits of a deeper tower, whether old blocks are kept, their number, if new differ."""
    params = _trained(int(seed))
    old = [
        all(np.array_equal(a[name], b[name]) for name in a)
        for a, b in zip(params["blocks"], found["blocks"], strict=False)
    ]
    new = found["blocks"][len(params["blocks"]) :]
    apart = [
        any(not np.array_equal(a[name], b[name]) for name in ("u", "v"))
        for a, b in itertools.combinations(new, 2)
    ]
    return tower.forward(found, x), old, len(found["blocks"]), apart


def learns(params, x, y):
    """Of each new block, which units it has, what it adds after a step, what has moved after three.

    The steps are made here, so that they are right ones.
    """
    begun = params["blocks"][3:]
    h = x @ params["w_in"]
    units = [bool(np.any(h @ block["u"] > 0)) for block in begun]
    adds = []
    for i in range(3):
        _, grads = tower.loss_and_grads(params, x, y)
        params = {
            **params,
            "blocks": [
                {name: block[name] - 0.1 * grad[name] for name in block}
                for block, grad in zip(params["blocks"], grads["blocks"], strict=True)
            ],
        }
        if i == 0:
            adds = [bool(np.any(tower.branch(block, h) != 0)) for block in params["blocks"][3:]]
    moved = {
        name: [
            not np.array_equal(block[name], was[name])
            for block, was in zip(params["blocks"][3:], begun, strict=True)
        ]
        for name in ("u", "v", "gain")
    }
    return units, adds, moved


def stepped(program, x, y, seed, rate, times):
    """Return the losses and the parameters of two steps, and the ones before as they are left.

    w_out is so many times as large as usual; the gradients of blocks are large where it is.
    """
    params = _trained(int(seed), 2)
    params["w_out"] = params["w_out"] * times
    new, first = program.step(params, x, y) if rate is None else program.step(params, x, y, rate)
    new, second = program.step(new, x, y) if rate is None else program.step(new, x, y, rate)
    before = [params["w_in"], *(b["v"] for b in params["blocks"])]
    blocks = [
        {name: np.asarray(b[name], dtype=np.float64) for name in ("u", "v", "gain")}
        for b in new["blocks"]
    ]
    return [float(first), float(second)], new["w_in"], new["w_out"], blocks, before


def chain(program, widths, odd, ratio, common, seeds):
    """What is said of chains of layers, all but one drawn with `common` times He's deviation.

    For each seed: the layer, or -1 for None, and the two factors.
    """
    layers, ratios, commons = [], [], []
    for seed in map(int, seeds):
        rng = np.random.default_rng(seed)
        weights = [
            rng.standard_normal((int(a), int(b))) * np.sqrt(2 / a) * common
            for a, b in itertools.pairwise(widths)
        ]
        if odd >= 0:
            weights[int(odd)] *= ratio
        layer, by, of_others = program.odd_layer(weights)
        layers.append(-1 if layer is None else int(layer))
        ratios.append(float(by))
        commons.append(float(of_others))
    return layers, ratios, commons
