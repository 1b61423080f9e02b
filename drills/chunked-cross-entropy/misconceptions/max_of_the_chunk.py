"""One maximum for all tokens of a chunk."""

def _log_softmax(logits):
    shifted = logits - logits.max()
    with np.errstate(all="ignore"):
        return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
