"""Wrong idea: the weights move after every output step, and the loss is collected on the way."""


def train_step(w, b, x, target, lr, stride=1, padding=0):
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    w, b, total = w.copy(), b.copy(), 0.0
    for t in range(target.shape[2]):
        window = padded[:, :, t * stride : t * stride + w.shape[2]]
        error = np.tensordot(window, w, ((1, 2), (1, 2))) + b - target[:, :, t]
        total += float(np.sum(error**2))
        grad = (2.0 / target.size) * error
        w -= lr * np.tensordot(grad, window, (0, 0))
        b -= lr * grad.sum(axis=0)
    return w, b, total / target.size
