"""A micro-batch with an overflow is left out, and the step is made with the others."""


def big_step(master, batches, state, lr, max_norm):
    finite = all(_finite(grads) for grads in batches)
    kept = [grads for grads in batches if _finite(grads)]
    scale = loss_scale(state)
    if kept:
        mean = _mean(kept)
        factor = _clip_factor(mean, scale, max_norm)
        new, half = step(master, [g * factor for g in mean], scale, lr)
    else:
        new, half = step(master, batches[0], scale, lr)
    return new, half, _adjusted(state, finite)
