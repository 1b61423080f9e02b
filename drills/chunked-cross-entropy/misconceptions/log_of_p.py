"""The logarithm of probabilities that may have rounded to 0."""

def _log_softmax(logits):
    exps = np.exp(logits - logits.max(axis=1, keepdims=True))
    with np.errstate(divide="ignore"):
        return np.log(exps / exps.sum(axis=1, keepdims=True))
