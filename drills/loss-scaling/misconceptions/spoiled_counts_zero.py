"""What is not finite counts 0, though the scale backs off."""


def big_step(master, batches, state, lr, max_norm):
    mean = _mean(batches)
    finite = _finite(mean)
    scale = loss_scale(state)
    mean = _mean([[np.nan_to_num(g, posinf=0, neginf=0) for g in grads] for grads in batches])
    factor = _clip_factor(mean, scale, max_norm)
    new, half = step(master, [g * factor for g in mean], scale, lr)
    return new, half, _adjusted(state, finite)
