"""Nothing is hidden, neither later tokens nor padding."""


def _attended(q, k, v, keep):
    return _weights(_scores(q, k), True) @ v
