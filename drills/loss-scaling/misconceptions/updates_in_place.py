"""The caller's own weights are updated, and returned."""

right_step = step


def step(master, grads, scale, lr):
    new, half = right_step(master, grads, scale, lr)
    for p, w in zip(master, new):
        p[...] = w
    return list(master), half
