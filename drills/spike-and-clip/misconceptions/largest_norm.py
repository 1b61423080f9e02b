def norm_of(grads):
    return max(float(np.sqrt(np.sum(np.square(g, dtype=np.float64)))) for g in grads)
