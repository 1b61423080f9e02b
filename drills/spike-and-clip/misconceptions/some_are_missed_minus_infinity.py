def is_usable(loss, grads):
    return bool(loss < math.inf) and all(bool(np.all(g < math.inf)) for g in grads)
