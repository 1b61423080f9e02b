"""The scale is adjusted once for each micro-batch."""


def big_step(master, batches, state, lr, max_norm):
    mean = _mean(batches)
    scale = loss_scale(state)
    factor = _clip_factor(mean, scale, max_norm) if _finite(mean) else 1.0
    new, half = step(master, [g * factor for g in mean], scale, lr)
    for grads in batches:
        state = _adjusted(state, _finite(grads))
    return new, half, state
