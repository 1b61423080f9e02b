"""The softmax runs over the queries, forward and backward."""


def _normalizer(scores):
    top = scores.max(axis=1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    total = np.exp(scores - top).sum(axis=1, keepdims=True)
    return top, np.where(total > 0, total, 1)


def _softmax_backward(weights, grad_weights, grad_o, o):
    return weights * (grad_weights - (weights * grad_weights).sum(axis=1, keepdims=True))
