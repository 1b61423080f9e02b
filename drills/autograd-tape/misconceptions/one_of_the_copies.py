def _unbroadcast(grad, shape):
    first = grad[(0,) * (grad.ndim - len(shape))]
    return np.array(first[tuple(slice(0, n) for n in shape)])
