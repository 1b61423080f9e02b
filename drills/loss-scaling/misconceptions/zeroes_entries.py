"""Entries that are not finite become 0, and the step is made."""


def step(master, grads, scale, lr):
    grads = [np.where(np.isfinite(g), g, g.dtype.type(0)) for g in grads]
    new = [_moved(p, _unscaled(g, scale), lr) for p, g in zip(master, grads)]
    return new, _halves(new)
