def _rstd(centered, eps):
    return 1.0 / np.sqrt((centered * centered).sum(-1, keepdims=True) / (centered.shape[-1] - 1) + eps)
