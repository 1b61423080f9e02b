"""The softmax runs over the tokens of a chunk."""

def _log_softmax(logits):
    shifted = logits - logits.max(axis=0, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=0, keepdims=True))
