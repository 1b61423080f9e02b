"""Each micro-batch is clipped before the mean is taken."""


def big_step(master, batches, state, lr, max_norm):
    scale = loss_scale(state)
    finite = all(_finite(grads) for grads in batches)
    clipped = []
    for grads in batches:
        factor = _clip_factor(grads, scale, max_norm) if finite else 1.0
        clipped.append([g.astype(np.float32) * factor for g in grads])
    new, half = step(master, _mean(clipped), scale, lr)
    return new, half, _adjusted(state, finite)
