"""The settings of the first step are used for all that follow."""

right_init, right_step = init, step


def init(params):
    return {"each": right_init(params), "settings": None}


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    if state["settings"] is None:
        state["settings"] = (lr, beta1, beta2, eps, decay)
    new, state["each"] = right_step(params, grads, state["each"], *state["settings"])
    return new, state
