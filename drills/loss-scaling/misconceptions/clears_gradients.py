"""The gradients are set to 0 after the step."""

right_big_step = big_step


def big_step(master, batches, state, lr, max_norm):
    result = right_big_step(master, batches, state, lr, max_norm)
    for grads in batches:
        for g in grads:
            g.fill(0)
    return result
