def is_usable(loss, grads):
    return math.isfinite(loss)
