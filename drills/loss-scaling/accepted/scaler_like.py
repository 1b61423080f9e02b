"""As a framework's scaler: unscale in place on float32 copies, found_inf, step or not."""

import numpy as np


class GradScaler:
    def __init__(self, init_scale):
        self._scale = init_scale
        self.found_inf = 0.0

    def unscale_(self, grads):
        inv_scale = 1.0 / self._scale
        unscaled = []
        for grad in grads:
            grad = grad.astype(np.float32)
            if np.isinf(grad).any() or np.isnan(grad).any():
                self.found_inf = 1.0
            grad *= inv_scale
            unscaled.append(grad)
        return unscaled


def step(master, grads, scale, lr):
    scaler = GradScaler(scale)
    unscaled = scaler.unscale_(grads)
    if scaler.found_inf:
        new = master
    else:
        new = [param - lr * grad for param, grad in zip(master, unscaled)]
    return list(new), [param.astype(np.float16) for param in new]
