"""The merged heads are returned as they are."""

_whole = extend


def extend(cache, x, w_qkv, w_out):
    return _whole(cache, x, w_qkv, np.eye(len(w_out), dtype=x.dtype))
