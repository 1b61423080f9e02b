"""The last block is filled up with zeros, which are counted."""


def attend(q, k, v, block, mask=None):
    extra = -len(k) % block
    k, v = np.pad(k, ((0, extra), (0, 0))), np.pad(v, ((0, extra), (0, 0)))
    if mask is not None:
        mask = np.pad(mask, ((0, 0), (0, extra)), constant_values=True)
    state = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
    for keys in _blocks(len(k), block):
        state = _add(state, _scores(q, k, mask, keys), v[keys])
    return _finish(*state)
