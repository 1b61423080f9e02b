"""Wrong: weights are shifted so that their range is used on both sides."""

import numpy as np

def quantize_weight(w):
    low, high = w.min(axis=1, keepdims=True), w.max(axis=1, keepdims=True)
    scale = (high - low) / 254
    return np.round((w - (high + low) / 2) / scale).astype(np.int8), scale.squeeze(1)

def int8_linear(xq, x_scale, wq, w_scale):
    total = xq.astype(np.float32) @ wq.T.astype(np.float32)
    return total * x_scale[:, None] * w_scale
