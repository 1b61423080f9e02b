"""The stored variance counts sequences, not values."""


def _stored_variance(x, var):
    return var * (np.float64(len(x)) / (len(x) - 1)).astype(var.dtype)
