"""The head keeps its two numbers per vocabulary entry in bf16."""


def _head(model):
    return 2 * BF16 * model["d"] + FP32 + 2 * BF16 * model["vocab"]
