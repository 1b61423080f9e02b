right_usable = is_usable


def is_usable(loss, grads):
    return right_usable(loss, grads) and all(bool(np.all(np.abs(g) < 1e6)) for g in grads)
