"""Wrong: weights are scaled to 127.5 and clipped."""
# named: scale-to-more-than-127

import numpy as np

class FakeQuantize:
    quant_min, quant_max = -127, 127

    def __init__(self, alpha):
        self.alpha = alpha

    def forward(self, x):
        self.x = x
        self.scale = self.alpha / self.quant_max
        self.x_int = np.clip(np.rint(x / self.scale), self.quant_min, self.quant_max)
        return self.x_int * self.scale

    def backward(self, grad_output):
        mask = (self.x >= -self.alpha) & (self.x <= self.alpha)
        grad_alpha = np.where(mask, (self.x_int - self.x / self.scale) / self.quant_max, np.sign(self.x))
        return grad_output * mask, np.sum(grad_output * grad_alpha)

def vectorwise_quant(A, out_stats=None):
    row_stats = np.amax(np.abs(A), axis=1)
    safe = np.where(row_stats == 0, np.ones_like(row_stats), row_stats)
    return np.rint(A * (127 / safe.astype(np.float64))[:, None]).astype(np.int8), safe / A.dtype.type(127)

def quantize_weight(w):
    scale = np.abs(w).max(axis=1) / w.dtype.type(127.5)
    scale[scale == 0] = 1
    return np.clip(np.rint(w / scale[:, None]), -128, 127).astype(np.int8), scale

def int8_linear(xq, x_scale, wq, w_scale):
    acc = np.matmul(xq.astype(np.int32), wq.astype(np.int32).transpose())
    return (acc * (x_scale.reshape(-1, 1).astype(np.float64) * w_scale.reshape(1, -1))).astype(np.float32)

def linear(x, wq, w_scale, threshold=np.inf):
    outlier_cols = np.argwhere((np.abs(x) >= threshold).any(axis=0)).ravel()
    subA = x[:, outlier_cols].copy()
    A = x.copy()
    A[:, outlier_cols] = 0
    CA, SCA = vectorwise_quant(A)
    output = int8_linear(CA, SCA, wq, w_scale)
    if outlier_cols.size:
        subB = (wq[:, outlier_cols] * w_scale[:, None]).T
        output = output + subA @ subB.astype(x.dtype)
    return output

def qat_backward(grad_y, x, w, clip):
    wq, w_scale = quantize_weight(w)
    act = FakeQuantize(clip)
    x_hat = act.forward(x)
    grad_x, grad_alpha = act.backward(grad_y @ (wq * w_scale[:, None]))
    return grad_x, grad_y.T @ x_hat, float(grad_alpha)
