"""Query head h uses key head h // kv_heads."""


def _shared(a, heads):
    groups = a.shape[1]
    return a if groups == heads else a[:, np.arange(heads) // groups]
