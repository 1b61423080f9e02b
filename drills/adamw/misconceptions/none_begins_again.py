"""A missing gradient sets moments and count back to the beginning."""

right_step = step


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    state = [_fresh(p) if g is None else own for p, g, own in zip(params, grads, state)]
    return right_step(params, grads, state, lr, beta1, beta2, eps, decay)
