"""The norm of the sum over micro-batches is held against max_norm."""


def big_step(master, batches, state, lr, max_norm):
    mean = _mean(batches)
    finite = _finite(mean)
    scale = loss_scale(state)
    factor = _clip_factor([g * len(batches) for g in mean], scale, max_norm) if finite else 1.0
    new, half = step(master, [g * factor for g in mean], scale, lr)
    return new, half, _adjusted(state, finite)
