def norm_of(grads):
    return sum(float(np.sum(np.square(g, dtype=np.float64))) for g in grads)
