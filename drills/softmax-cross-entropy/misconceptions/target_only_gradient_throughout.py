"""Line 4 is y (p - 1), and the gradient of the batch is made of it."""


def dloss_dz(p, y):
    return y * (p - 1)


def cross_entropy_grad(z, target):
    rows = np.arange(len(z))
    p = np.exp(log_softmax(z))
    grad = np.zeros(z.shape, z.dtype)
    grad[rows, target] = (p[rows, target] - 1) / max(len(z), 1)
    return grad
