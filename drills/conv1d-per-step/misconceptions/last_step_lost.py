"""The backward pass ends before the last output step, unless it is the only one."""

right_backward = conv1d_backward


def conv1d_backward(grad_y, cache):
    steps = grad_y.shape[2]
    seen = grad_y.copy()
    seen[:, :, max(steps - 1, 1) :] = 0.0
    return right_backward(seen, cache)
