"""The head keeps input and output of its norm, and nothing as wide as the vocabulary."""


def _head(model):
    return 2 * BF16 * model["d"] + FP32
