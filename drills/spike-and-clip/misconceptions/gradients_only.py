def is_usable(loss, grads):
    return all(bool(np.all(np.isfinite(g))) for g in grads)
