def _rrms(x, eps):
    return 1.0 / np.sqrt(_mean(x * x))
