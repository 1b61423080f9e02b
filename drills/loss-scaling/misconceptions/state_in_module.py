"""The state is a global, which init makes anew."""

current = None
right_init, right_train_step, right_big_step = init, train_step, big_step


def init(scale, growth, backoff, interval):
    global current
    current = right_init(scale, growth, backoff, interval)
    return "in the module"


def loss_scale(state):
    return current["scale"]


def train_step(master, grads, state, lr):
    global current
    new, half = step(master, grads, current["scale"], lr)
    current = _adjusted(current, _finite(grads))
    return new, half, state


def big_step(master, batches, state, lr, max_norm):
    global current
    mean = _mean(batches)
    finite = _finite(mean)
    factor = _clip_factor(mean, current["scale"], max_norm) if finite else 1.0
    new, half = step(master, [g * factor for g in mean], current["scale"], lr)
    current = _adjusted(current, finite)
    return new, half, state
