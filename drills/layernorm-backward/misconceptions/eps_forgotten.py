def _rstd(centered, eps):
    return 1.0 / np.sqrt(_mean(centered * centered))
