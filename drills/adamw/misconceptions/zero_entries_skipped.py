"""Entries whose gradient is 0 stay as they are; their moments fade."""

right_step = step


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new, state = right_step(params, grads, state, lr, beta1, beta2, eps, decay)
    held = [w if g is None else np.where(g == 0, p, w) for p, g, w in zip(params, grads, new)]
    return held, state
