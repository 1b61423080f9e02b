"""The step is that of the squared errors, divided by samples times steps, the channels left out; the loss is their mean."""


def train_step(w, b, x, target, lr, stride=1, padding=0):
    y, cache = conv1d_forward(x, w, b, stride, padding)
    residual = y - target
    count = residual.shape[0] * residual.shape[2]
    _, grad_w, grad_b = conv1d_backward((2.0 / count) * residual, cache)
    return w - lr * grad_w, b - lr * grad_b, float(np.mean(residual**2))
