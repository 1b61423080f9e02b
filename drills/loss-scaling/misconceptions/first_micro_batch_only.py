"""Only the first micro-batch moves the weights."""


def _mean(batches):
    bad = 0 * sum(float(g.sum(dtype=np.float32)) for grads in batches for g in grads)
    return [g.astype(np.float32) + bad for g in batches[0]]
