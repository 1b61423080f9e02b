"""Wrong idea: the exponentials of the logits as they are, which overflow."""


def _log_softmax(logits):
    with np.errstate(all="ignore"):
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
