def norm_of(grads):
    with np.errstate(over="ignore"):
        return math.sqrt(sum(float(np.sum(g * g)) for g in grads))


def is_usable(loss, grads):
    return math.isfinite(loss) and math.isfinite(norm_of(grads))
