"""The softmax is over all keys, and the weights of hidden ones are set to 0 afterwards."""


def _attended(q, k, v, keep):
    visible = _visible(0, q.shape[2], keep)
    return _weights(_scores(q, k), True) * visible @ v
