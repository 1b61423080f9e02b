"""Wrong idea: the logarithm of a probability that may have rounded to 0; the gradient is right."""


def _log_softmax(logits):
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    with np.errstate(divide="ignore"):
        return np.log(p / p.sum(axis=1, keepdims=True))
