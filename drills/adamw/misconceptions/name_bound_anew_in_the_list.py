"""The new weights take the place of the old ones in the list."""


def step_in_place(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    params[:], state = step(params, grads, state, lr, beta1, beta2, eps, decay)
    return state
