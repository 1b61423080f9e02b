"""The head has fewer bytes per element of the vocabulary than three fp32 tensors have."""

BYTES = 8


def _head(model):
    return 2 * BF16 * model["d"] + FP32 + BYTES * model["vocab"]
