"""Wrong: exact blocks in float32 are added in float32."""

import numpy as np

BLOCK = 1024

def quantize_weight(w):
    peak = np.linalg.norm(w, ord=np.inf, axis=1)
    peak = np.where(peak == 0, 1, peak).astype(w.dtype)
    return np.rint(w * 127 / peak[:, None]).astype(np.int8), peak / 127

def int8_linear(xq, x_scale, wq, w_scale):
    total = np.zeros((len(xq), len(wq)), np.float32)
    for start in range(0, xq.shape[1], BLOCK):
        a, b = (q[:, start : start + BLOCK].astype(np.float32) for q in (xq, wq))
        total += a @ b.T
    return (x_scale[:, None] * (w_scale * total)).astype(np.float32)

def linear(x, wq, w_scale, threshold=np.inf):
    out = np.flatnonzero((np.abs(x) >= threshold).sum(axis=0))
    kept = np.delete(x, out, axis=1)
    if kept.shape[1] == 0:
        kept = np.zeros((len(x), 1), x.dtype)
        left = np.zeros((len(wq), 1), np.int8)
    else:
        left = np.delete(wq, out, axis=1)
    xq, x_scale = quantize_weight(kept)
    dense = (wq[:, out].astype(np.float32) * w_scale[:, None]).astype(np.float32)
    return int8_linear(xq, x_scale.astype(np.float32), left, w_scale) + np.dot(x[:, out], dense.T)

def qat_backward(grad_y, x, w, clip):
    wq, w_scale = quantize_weight(w)
    grad_x_hat = (grad_y * w_scale) @ wq
    x_hat = np.rint(127 * np.minimum(np.maximum(x, -clip), clip) / clip) * clip / 127
    above, below = x > clip, x < -clip
    inside = ~(above | below)
    grad_clip = grad_x_hat[above].sum() - grad_x_hat[below].sum()
    grad_clip += (grad_x_hat * (x_hat - x))[inside].sum() / clip
    return grad_x_hat * inside, (x_hat.T @ grad_y).T, float(grad_clip)
