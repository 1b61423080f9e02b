"""The new weights get the name p, and the array stays as it was."""


def step_in_place(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    new, state = step(params, grads, state, lr, beta1, beta2, eps, decay)
    for p, w in zip(params, new):
        p = w
    return state
