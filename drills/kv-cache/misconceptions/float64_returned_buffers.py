"""The buffers are float64, whatever dtype was asked for."""


def new_cache(batch, heads, dh, capacity, dtype):
    shape = (batch, heads, capacity, dh)
    return Cache(np.zeros(shape), np.zeros(shape), 0)
