"""eps is added to the second moment, in which it stays."""

right_advance = _advance


def _advance(own, g, beta1, beta2):
    own = right_advance(own, g, beta1, beta2)
    own["v"] += EPS
    return own


EPS = 1e-8
right_step = step


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    global EPS
    EPS = eps
    return right_step(params, grads, state, lr, beta1, beta2, 0.0, decay)
