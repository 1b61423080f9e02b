import numpy as np


def rmsnorm_forward(x, gain, eps):
    inverse = (np.einsum("...d,...d->...", x, x) / x.shape[-1] + eps) ** -0.5
    xhat = x * inverse[..., None]

    def backward(grad_y):
        g = np.einsum("...d,d->...d", grad_y, gain)
        along = np.einsum("...d,...d->...", g, xhat) / x.shape[-1]
        grad_x = (g - xhat * along[..., None]) * inverse[..., None]
        d = x.shape[-1]
        return grad_x, np.einsum("nd,nd->d", grad_y.reshape(-1, d), xhat.reshape(-1, d))

    return xhat * gain, backward


def rmsnorm_backward(grad_y, ctx):
    return ctx(grad_y)
