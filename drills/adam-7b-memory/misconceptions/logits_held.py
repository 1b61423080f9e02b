"""The fp32 logits are alive through the backward pass, as a fourth tensor."""


def _head(model):
    return 2 * BF16 * model["d"] + FP32 + 4 * FP32 * model["vocab"]
