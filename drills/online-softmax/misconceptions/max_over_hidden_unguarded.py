"""The maximum runs over hidden keys too, and a sum of 0 is divided by."""


def attend(q, k, v, block, mask=None):
    top, total = np.full(len(q), -np.inf), np.zeros(len(q))
    o = np.zeros((len(q), v.shape[1]))
    for keys in _blocks(len(k), block):
        scores = _scores(q, k, None, keys)
        new = np.maximum(top, scores.max(axis=1))
        shrink, weights = np.exp(top - new), np.exp(scores - new[:, None])
        if mask is not None:
            weights = np.where(mask[:, keys], weights, 0)
        total = shrink * total + weights.sum(axis=1)
        o = shrink[:, None] * o + weights @ v[keys]
        top = new
    return (o / total[:, None], top + np.log(total))
