"""Results lie in buffers that all calls of a shape share."""

_fresh = rotate
_BUFFERS = {}


def rotate(q, k, v, positions, base=10000.0, width=None):
    new_q, new_k, _ = _fresh(q, k, v, positions, base, width)
    for name, new in (("q", new_q), ("k", new_k)):
        _BUFFERS.setdefault((name, new.shape, new.dtype), new.copy())[...] = new
    return *(_BUFFERS[name, new.shape, new.dtype] for name, new in (("q", new_q), ("k", new_k))), v
