"""Infinities become the largest number of float16, NaN becomes 0."""


def step(master, grads, scale, lr):
    grads = [np.nan_to_num(g) for g in grads]
    new = [_moved(p, _unscaled(g, scale), lr) for p, g in zip(master, grads)]
    return new, _halves(new)
