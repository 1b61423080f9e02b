def _unbroadcast(grad, shape):
    return grad.sum(axis=tuple(range(grad.ndim - len(shape))))
