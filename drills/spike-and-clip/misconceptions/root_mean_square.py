def norm_of(grads):
    squares = sum(float(np.sum(np.square(g, dtype=np.float64))) for g in grads)
    return math.sqrt(squares / sum(g.size for g in grads))
