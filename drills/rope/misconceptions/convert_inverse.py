"""The permutation goes backwards: halves become neighbors."""


def convert(w, heads):
    halves = w.reshape(*w.shape[:-1], heads, 2, -1)
    return np.stack([halves[..., 0, :], halves[..., 1, :]], axis=-1).reshape(w.shape)
