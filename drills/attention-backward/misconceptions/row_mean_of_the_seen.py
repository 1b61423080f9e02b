"""The plain mean over the keys that are seen is taken off, not that under the weights."""


def _softmax_backward(weights, grad_weights, grad_o, o):
    seen = weights > 0
    count = np.maximum(seen.sum(axis=2, keepdims=True), 1).astype(weights.dtype)
    return weights * (grad_weights - (grad_weights * seen).sum(axis=2, keepdims=True) / count)
