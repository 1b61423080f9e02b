"""Shifted logits are clipped from below, so no class may trail by more."""

LIMIT = 700.0


def log_softmax(z):
    shifted = np.maximum(z - z.max(axis=-1, keepdims=True), -LIMIT)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
