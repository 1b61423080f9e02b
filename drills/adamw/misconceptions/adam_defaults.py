"""Without a decay given, nothing decays."""

right_step = step


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.0):
    return right_step(params, grads, state, lr, beta1, beta2, eps, decay)
