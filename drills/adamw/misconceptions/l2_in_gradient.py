"""The decay is added to the gradient, and goes through both moments."""

right_step = step


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    grads = [g if g is None else g + decay * p for p, g in zip(params, grads)]
    return right_step(params, grads, state, lr, beta1, beta2, eps, 0.0)
