def norm_of(grads):
    with np.errstate(over="ignore"):
        return math.sqrt(sum(float(np.sum(g * g)) for g in grads))
