"""Learning rate and scale are made one factor, by which the float16 gradient is multiplied."""


def step(master, grads, scale, lr):
    if not _finite(grads):
        new = [p.copy() for p in master]
    else:
        new = [p - (g * (lr / scale)).astype(p.dtype) for p, g in zip(master, grads)]
    return new, _halves(new)
