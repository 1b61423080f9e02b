def _rrms(x, eps):
    return 1.0 / np.sqrt((x * x).sum(axis=-1, keepdims=True) + eps)
