"""Style: a file with a byte order mark and CRLF line ends that prints a lot and has a demo."""

import sys

import numpy as np

print("loading, with numpy", np.__version__)


def log_softmax(z):
    print("log_softmax of", z.shape, z.dtype, file=sys.stderr)
    m = z.max(axis=-1, keepdims=True)
    return z - m - np.log(np.exp(z - m).sum(axis=-1, keepdims=True))


def dloss_dp(p, y):
    g = -y / np.where(y == 0, np.array(1, p.dtype), p)
    print("dL/dp =", g)
    return g


def softmax_jacobian(p):
    jacobian = np.diagflat(p) - p.reshape(-1, 1) @ p.reshape(1, -1)
    print("J =", jacobian, sep="\n")
    return jacobian


def contract(jacobian, g):
    return np.inner(jacobian.T, g)


def cross_entropy(z, target, ignore_index=-100):
    keep = [i for i, label in enumerate(target) if label != ignore_index]
    print("counting", len(keep), "of", len(target), "rows — «ignoring» the others")
    if len(keep) == 0:
        return 0.0
    lp = log_softmax(z)
    return float(np.mean([-lp[i, target[i]] for i in keep], dtype=z.dtype))


def cross_entropy_grad(z, target, ignore_index=-100):
    keep = [i for i, label in enumerate(target) if label != ignore_index]
    grad = np.exp(log_softmax(z))
    for i in range(len(grad)):
        if i in keep:
            grad[i, target[i]] -= 1
            grad[i] /= len(keep)
        else:
            grad[i] = 0
        print("row", i, "has gradient", grad[i])
    return grad


def dloss_dz(p, y):
    return y.sum() * p - y


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=-1, keepdims=True))


WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


if __name__ == "__main__":
    logits = np.random.default_rng(0).normal(size=(4, 3))
    print(cross_entropy(logits, np.array([0, 1, 2, 0])))
    raise SystemExit("demo over")
