"""The norm is computed from float16 squares."""


def _norm(grads):
    squares = [(g.astype(np.float16) ** 2).sum() for g in grads]
    return float(np.sqrt(sum(float(s) for s in squares)))
