"""Without a gradient moments fade and the count goes on; the weight stays."""

right_step = step


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    for g, own in zip(grads, state):
        if g is None:
            own["steps"] += 1
            own["m"] *= beta1
            own["v"] *= beta2
    return right_step(params, grads, state, lr, beta1, beta2, eps, decay)
