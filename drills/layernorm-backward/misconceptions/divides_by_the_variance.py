def _rstd(centered, eps):
    return 1.0 / (_mean(centered * centered) + eps)
