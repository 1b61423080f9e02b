"""No token is hidden from an earlier one."""


def _attended(q, k, v, keep):
    return _weights(_scores(q, k), True if keep is None else keep[:, None, None, :]) @ v
