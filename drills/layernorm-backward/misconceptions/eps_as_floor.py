def _rstd(centered, eps):
    return 1.0 / np.sqrt(np.maximum(_mean(centered * centered), eps))
