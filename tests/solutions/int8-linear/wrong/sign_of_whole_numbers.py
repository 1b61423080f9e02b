"""Wrong: the gradient of clip is the sign of x everywhere."""

import numpy as np

def _columns(a):
    peak = np.abs(a).max(axis=0, keepdims=True)
    scale = peak / a.dtype.type(127) + (peak == 0)
    return np.rint(a / scale).astype(np.int8), scale[0].astype(a.dtype)

def quantize_weight(w):
    numbers, scale = _columns(w.T)
    return np.ascontiguousarray(numbers.T), scale

def int8_linear(xq, x_scale, wq, w_scale):
    total = wq.astype(np.int64) @ xq.T.astype(np.int64)
    return ((total * w_scale[:, None].astype(float)) * x_scale).T.astype(np.float32)

def linear(x, wq, w_scale, threshold=np.inf):
    t = x.T.copy()
    out = (np.abs(t) >= threshold).any(axis=1)
    large = t[out].copy()
    t[out] = 0
    numbers, scale = _columns(t)
    y = int8_linear(numbers.T, scale, wq, w_scale).T
    return (y + (wq[:, out] * w_scale[:, None]) @ large).T

def qat_backward(grad_y, x, w, clip):
    numbers, scale = _columns(w.T)
    xt, gt = x.T, grad_y.T
    hat = np.rint(np.clip(xt, -clip, clip) * 127 / clip) / 127
    back = (numbers * scale) @ gt
    inside = np.abs(xt) <= clip
    slope = np.sign(xt)
    return (back * inside).T, gt @ (clip * hat).T, float((back * slope).sum())
