"""Only a parameter whose own gradient has an overflow is left out."""


def step(master, grads, scale, lr):
    new = [
        _moved(p, _unscaled(g, scale), lr) if _finite([g]) else p.copy()
        for p, g in zip(master, grads)
    ]
    return new, _halves(new)
