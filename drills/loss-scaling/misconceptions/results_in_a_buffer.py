"""Results of one place live in one array from call to call."""

right_step = step
buffers = {}


def step(master, grads, scale, lr):
    new, half = right_step(master, grads, scale, lr)
    kept = [buffers.setdefault((i, w.shape), np.empty_like(w)) for i, w in enumerate(new)]
    for buffer, w in zip(kept, new):
        buffer[...] = w
    return kept, half
