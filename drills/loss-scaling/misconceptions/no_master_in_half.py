"""Weights and update are made float16, and subtracted there."""


def _moved(p, g, lr):
    return (p.astype(np.float16) - (lr * g).astype(np.float16)).astype(p.dtype)
