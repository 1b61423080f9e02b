"""The output is multiplied by its gradient, in place."""


def attend_backward(grad_o, q, k, v, o, lse, block, mask=None):
    o *= grad_o
    dot = o.sum(axis=1, keepdims=True)
    grad_q, grad_k, grad_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for keys in _blocks(len(k), block):
        weights = _weights(_scores(q, k, mask, keys), lse)
        grad_scores = _grad_scores(weights, grad_o @ v[keys].T, dot)
        grad_q += grad_scores @ k[keys] / _root(q)
        grad_k[keys] = grad_scores.T @ q / _root(q)
        grad_v[keys] = weights.T @ grad_o
    return grad_q, grad_k, grad_v
