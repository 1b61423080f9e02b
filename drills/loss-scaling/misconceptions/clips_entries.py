"""Entries are clipped to max_norm, one by one."""


def big_step(master, batches, state, lr, max_norm):
    scale = loss_scale(state)
    mean = _mean(batches)
    finite = _finite(mean)
    if finite:
        mean = [np.clip(g, -max_norm * scale, max_norm * scale) for g in mean]
    new, half = step(master, mean, scale, lr)
    return new, half, _adjusted(state, finite)
