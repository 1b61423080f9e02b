"""A parameter without a gradient decays; its moments and its count stand still."""

right_step = step


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new, state = right_step(params, grads, state, lr, beta1, beta2, eps, decay)
    for i, g in enumerate(grads):
        if g is None:
            new[i] = _decayed(params[i], lr, decay)
    return new, state
