def _unbroadcast(grad, shape):
    total = grad.sum(axis=tuple(range(grad.ndim - len(shape))))
    stretched = tuple(axis for axis, length in enumerate(shape) if length == 1)
    total = total.sum(axis=stretched, keepdims=True)
    return total * (total.size / grad.size)
