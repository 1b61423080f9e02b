"""Wrong: scales are returned as what weights were multiplied with."""

import numpy as np

def quantize_weight(w):
    scale = np.abs(w).max(axis=1, keepdims=True) / 127
    return np.round(w / scale).astype(np.int8), 1 / scale.squeeze(1)

def int8_linear(xq, x_scale, wq, w_scale):
    total = xq.astype(np.float32) @ wq.T.astype(np.float32)
    return total * x_scale[:, None] * w_scale
