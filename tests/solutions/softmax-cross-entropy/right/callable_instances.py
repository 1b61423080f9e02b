"""Style: instances of classes with __call__ take the place of functions."""

import numpy as np


class LogSoftmax:
    def __call__(self, z):
        shifted = z - z.max(axis=self.axis, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=self.axis, keepdims=True))

    def __init__(self, axis):
        self.axis = axis


class Step:
    def __init__(self, rule):
        self.rule = rule

    def __call__(self, first, second=None):
        return self.rule(first) if second is None else self.rule(first, second)


class CrossEntropy:
    def __init__(self, log_probabilities):
        self.log_probabilities = log_probabilities

    def split(self, z, target, ignore_index):
        rows = np.where(target != ignore_index)[0]
        return rows, target[rows], self.log_probabilities(z)

    def __call__(self, z, target, ignore_index=-100):
        rows, classes, lp = self.split(z, target, ignore_index)
        return -lp[rows, classes].mean() if rows.size else 0.0


class CrossEntropyGradient(CrossEntropy):
    def __call__(self, z, target, ignore_index=-100):
        rows, classes, lp = self.split(z, target, ignore_index)
        grad = np.zeros(lp.shape, lp.dtype)
        grad[rows] = np.exp(lp[rows])
        grad[rows, classes] -= 1
        return grad / max(rows.size, 1)


log_softmax = LogSoftmax(axis=-1)
dloss_dp = Step(lambda p, y: np.where(y == 0, 0, -y / np.where(y == 0, 1, p)).astype(p.dtype))
softmax_jacobian = Step(lambda p: np.diag(p) - p[:, None] * p)
contract = Step(lambda jacobian, g: g @ jacobian)
cross_entropy = CrossEntropy(log_softmax)
cross_entropy_grad = CrossEntropyGradient(log_softmax)

dloss_dz = Step(lambda p, y: p * y.sum() - y)
softmax_vjp = Step(lambda p, g: p * g - p * (p * g).sum(axis=-1, keepdims=True))


class Answers(dict):
    """Letters by question."""


WHY = Answers({"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"})
