"""The decay is added to what the first moment gets; the second has the plain gradient."""


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for p, g, own in zip(params, grads, state):
        if g is None:
            new.append(p.copy())
            continue
        own["steps"] += 1
        _mix(own["m"], g + decay * p, beta1)
        _mix(own["v"], g * g, beta2)
        new.append(p - _move(own, lr, beta1, beta2, eps))
    return new, state
