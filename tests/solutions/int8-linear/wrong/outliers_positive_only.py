"""Wrong: only positive entries are looked at."""
# named: threshold-of-signed

import numpy as np

def quantize_weight(w):
    scale = np.abs(w).max(axis=1) / w.dtype.type(127)
    scale[scale == 0] = 1
    return np.rint(w / scale[:, None]).astype(np.int8), scale

def int8_linear(xq, x_scale, wq, w_scale):
    total = xq.astype(np.float64) @ wq.T.astype(np.float64)
    return (total * x_scale[:, None] * w_scale).astype(np.float32)

def linear(x, wq, w_scale, threshold=np.inf):
    out = x.max(axis=0) >= threshold
    kept = x.copy()
    kept[:, out] = 0
    xq, x_scale = quantize_weight(kept)
    return int8_linear(xq, x_scale, wq, w_scale) + x[:, out] @ (wq[:, out].T * w_scale)

def qat_backward(grad_y, x, w, clip):
    wq, w_scale = quantize_weight(w)
    step = clip / 127
    v = x / step
    limited = np.clip(v, -127, 127)
    whole = np.rint(limited)
    g = grad_y @ (wq * w_scale[:, None])
    beyond = np.abs(x) > clip
    of_step = np.where(beyond, whole, whole - v)
    return np.where(beyond, 0, g), grad_y.T @ (whole * step), float((g * of_step).sum() / 127)
