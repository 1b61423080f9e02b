"""The decay is added to the corrected first moment, and divided with it."""


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    for p, g, own in zip(params, grads, state):
        if g is None:
            new.append(p.copy())
            continue
        own["steps"] += 1
        _mix(own["m"], g, beta1)
        _mix(own["v"], g * g, beta2)
        root = np.sqrt(own["v"] / _correction(beta2, own["steps"])) + eps
        mean = own["m"] / _correction(beta1, own["steps"])
        new.append(p - lr * (mean + decay * p) / root)
    return new, state
