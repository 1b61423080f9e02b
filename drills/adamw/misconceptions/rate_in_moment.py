"""The gradient is multiplied by the learning rate before it enters the first moment."""


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for p, g, own in zip(params, grads, state):
        if g is None:
            new.append(p.copy())
            continue
        own["steps"] += 1
        _mix(own["m"], lr * g, beta1)
        _mix(own["v"], g * g, beta2)
        new.append(_decayed(p, lr, decay) - _move(own, 1.0, beta1, beta2, eps))
    return new, state
