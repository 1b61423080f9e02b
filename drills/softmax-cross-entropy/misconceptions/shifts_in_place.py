"""The row maximum is subtracted in the caller's own logits."""

right_log_softmax = log_softmax


def log_softmax(z):
    z -= z.max(axis=1, keepdims=True)
    return right_log_softmax(z)
