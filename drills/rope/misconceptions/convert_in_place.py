"""The caller's own weights are permuted, and returned."""

_new = convert


def convert(w, heads):
    w[...] = _new(w, heads)
    return w
