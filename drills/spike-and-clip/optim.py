"""Two optimizers. `step` writes into the arrays of params, and into its own."""

import numpy as np


class SGD:
    """A weight moves by -lr * velocity, momentum * velocity + gradient."""

    def __init__(self, params, lr, momentum=0.0):
        """Begin with velocities of 0, shaped like params."""
        self.lr, self.momentum = lr, momentum
        self.velocity = [np.zeros_like(p) for p in params]

    def step(self, params, grads):
        """Move every array of params, in place."""
        for p, g, velocity in zip(params, grads, self.velocity, strict=True):
            if self.momentum:
                velocity *= self.momentum
                velocity += g
                g = velocity
            p -= self.lr * g


class Adam:
    """Adam without decay: m and v are the moments, and t counts the steps."""

    def __init__(self, params, lr, beta1=0.9, beta2=0.999, eps=1e-8):
        """Begin with moments of 0, shaped like params."""
        self.lr, self.beta1, self.beta2, self.eps = lr, beta1, beta2, eps
        self.m = [np.zeros_like(p) for p in params]
        self.v = [np.zeros_like(p) for p in params]
        self.t = 0

    def step(self, params, grads):
        """Move every array of params, in place."""
        self.t += 1
        first, second = 1 - self.beta1**self.t, 1 - self.beta2**self.t
        for p, g, m, v in zip(params, grads, self.m, self.v, strict=True):
            m *= self.beta1
            m += (1 - self.beta1) * g
            v *= self.beta2
            v += (1 - self.beta2) * g * g
            p -= self.lr * (m / first) / (np.sqrt(v / second) + self.eps)
