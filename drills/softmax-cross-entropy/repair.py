"""Cross-entropy of logits: one function per line, then what training calls."""

import numpy as np

# why 2: A batch's gradient that is not divided by B is B times too long: a positive multiple, along
#        which the loss still falls. Rows written twice show it. Line 2 is symmetric.
WHY = {"loss-fell": "b", "would-have-shown-it": "a", "transpose": "c"}


def dloss_dp(p, y):
    """Line 1, dL/dp for one example: (C,), (C,) -> (C,)."""
    # why 2: A class of weight 0 has no term in the loss, so that its derivative is 0; 0 / 0 is NaN.
    return np.divide(-y, p, out=np.zeros_like(p), where=y != 0)


def softmax_jacobian(p):
    """Line 2, dp/dz: (C,) -> (C, C)."""
    # why: Every logit is in the normalizer, so that raising one lowers all other probabilities:
    #      dp_i/dz_j = -p_i p_j off the diagonal.
    return np.diag(p) - np.outer(p, p)


def contract(jacobian, g):
    """Line 3, the chain rule: dL/dz from dp/dz and g = dL/dp."""
    # why: dL/dz_j sums over the outputs i, the first index of the Jacobian.
    return jacobian.T @ g


def dloss_dz(p, y):
    """Line 4, the three lines multiplied out: (C,), (C,) -> (C,)."""
    # why: Each unit of weight brings the normalizer once; y sums to 1 for a one-hot label only.
    return y.sum() * p - y


def log_softmax(z):
    """Log-probabilities over the classes: (B, C) -> (B, C)."""
    # why 2: exp of 89 overflows in float32, and of -104 it is 0. A softmax does not change when
    #        each row is shifted, so that its largest logit is 0.
    z = z - z.max(axis=-1, keepdims=True)
    # why 2: log(e / sum) is -inf where e rounds to 0; log e is the shifted logit itself.
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


def cross_entropy(z, target):
    """Mean loss of the rows."""
    return float(-log_softmax(z)[np.arange(len(z)), target].mean())


def cross_entropy_grad(z, target):
    """Gradient of cross_entropy with respect to z: (B, C)."""
    # why 2: np.zeros makes float64 whatever the logits are.
    grad = np.zeros(z.shape, z.dtype)
    p = np.exp(log_softmax(z))
    for row, label in enumerate(target):
        # why 3: np.eye(C) is a matrix of C by C, of which one row is used.
        one_hot = np.zeros(z.shape[1], z.dtype)
        one_hot[label] = 1
        grad[row] = dloss_dz(p[row], one_hot)
    # why: The loss is a mean over B rows, and so is its gradient.
    return grad / len(z)


# why 3: Multiplied out, line 3 with line 2 needs one inner product for each row, and no matrix.
def softmax_vjp(p, g):
    """Line 3 for every row: (B, C), (B, C) -> (B, C)."""
    return p * (g - (p * g).sum(axis=-1, keepdims=True))
