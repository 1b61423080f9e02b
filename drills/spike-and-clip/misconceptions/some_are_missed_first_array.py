def is_usable(loss, grads):
    return bool(np.isfinite(loss)) and bool(np.all(np.isfinite(grads[0])))
