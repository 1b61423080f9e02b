"""Wrong idea: each step's gradients replace those of the step before; train_step does without them."""

right_backward = conv1d_backward


def conv1d_backward(grad_y, cache):
    x, w, stride, padding = cache
    start = stride * (grad_y.shape[2] - 1)
    window = _padded(x, padding)[:, :, start : start + w.shape[2]]
    last = grad_y[:, :, -1]
    return right_backward(grad_y, cache)[0], np.einsum("no,nck->ock", last, window), last.sum(axis=0)


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    _, grad_w, grad_b = right_backward((2.0 / residual.size) * residual, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))
