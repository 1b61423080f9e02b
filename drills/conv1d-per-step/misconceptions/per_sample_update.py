"""Wrong idea: the weights move after every sample; the loss is collected on the way."""


def train_step(w, b, x, target, lr, stride=1, padding=0):
    total = 0.0
    for one, wanted in zip(x, target, strict=True):
        y, cache = conv1d_forward(one[None], w, b, stride, padding)
        residual = y - wanted
        total += float(np.sum(residual**2))
        _, grad_w, grad_b = conv1d_backward((2.0 / target.size) * residual, cache)
        w, b = w - lr * grad_w, b - lr * grad_b
    return w, b, total / target.size
