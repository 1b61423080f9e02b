"""The state is a global, which `init` makes anew."""

right_init, right_step = init, step
current = None


def init(params):
    global current
    current = right_init(params)
    return "in the module"


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    global current
    new, current = right_step(params, grads, current, lr, beta1, beta2, eps, decay)
    return new, state
