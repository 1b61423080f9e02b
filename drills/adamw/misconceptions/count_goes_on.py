"""One count of steps for all parameters, raised once per call."""

right_init = init


def init(params):
    return {"each": right_init(params), "steps": 0}


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new = []
    state["steps"] += 1
    for p, g, own in zip(params, grads, state["each"]):
        if g is None:
            new.append(p.copy())
            continue
        own["steps"] = state["steps"]
        _mix(own["m"], g, beta1)
        _mix(own["v"], g * g, beta2)
        new.append(_decayed(p, lr, decay) - _move(own, lr, beta1, beta2, eps))
    return new, state
