"""Each parameter is clipped by its own norm."""


def big_step(master, batches, state, lr, max_norm):
    scale = loss_scale(state)
    mean = _mean(batches)
    finite = _finite(mean)
    if finite:
        mean = [g * _clip_factor([g], scale, max_norm) for g in mean]
    new, half = step(master, mean, scale, lr)
    return new, half, _adjusted(state, finite)
