"""A big step undoes the scale, and hands the gradient to a step that does it again."""


def big_step(master, batches, state, lr, max_norm):
    mean = _mean(batches)
    finite = _finite(mean)
    scale = loss_scale(state)
    true = [g / scale for g in mean]
    factor = _clip_factor(true, 1.0, max_norm) if finite else 1.0
    new, half = step(master, [g * factor for g in true], scale, lr)
    return new, half, _adjusted(state, finite)
