"""The gradients of gamma and beta add up over calls."""

_backward_of = BatchNorm1d.backward


def _backward(self, grad_y):
    grad_x, *grads = _backward_of(self, grad_y)
    before = getattr(self, "grads", (0, 0))
    self.grads = [a + b for a, b in zip(before, grads, strict=True)]
    return grad_x, *self.grads


BatchNorm1d.backward = _backward
