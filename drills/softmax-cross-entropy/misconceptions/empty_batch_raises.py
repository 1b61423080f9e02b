"""A maximum over the whole batch, or a reshape with -1: numpy refuses both without rows."""

_of_some_rows = log_softmax


def log_softmax(z):
    z.reshape(z.shape[0], -1)
    return _of_some_rows(z)
