"""In each head the odd columns come first."""


def convert(w, heads):
    pairs = w.reshape(*w.shape[:-1], heads, -1, 2)
    return np.concatenate([pairs[..., 1], pairs[..., 0]], axis=-1).reshape(w.shape)
