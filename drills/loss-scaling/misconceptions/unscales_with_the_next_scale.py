"""The scale is adjusted first, and the gradient divided by the new one."""


def train_step(master, grads, state, lr):
    state = _adjusted(state, _finite(grads))
    new, half = step(master, grads, loss_scale(state), lr)
    return new, half, state
