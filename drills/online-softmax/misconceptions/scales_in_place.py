"""The caller's q is divided by the root of d."""


def attend(q, k, v, block, mask=None):
    q /= _root(q)
    state = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
    for keys in _blocks(len(k), block):
        state = _add(state, _scores(q * _root(q), k, mask, keys), v[keys])
    return _finish(*state)
