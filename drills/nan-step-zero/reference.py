"""A classifier of scans whose first loss is near log(c), whatever the batch holds."""

import math

import torch

EPS = 1e-5  # below any variance that means something, and far above what float32 rounds to 0


def _drawn(rows, columns, rng):
    """Weights whose product with a row of numbers around 1 is around 1 too."""
    return (torch.randn(rows, columns, generator=rng) / math.sqrt(rows)).requires_grad_()


def init_params(d=32, h=64, c=10, seed=0):
    """Return w1 (d, h) and w2 (h, c); with small logits all classes begin as equals."""
    rng = torch.Generator().manual_seed(seed)
    return {"w1": _drawn(d, h, rng), "w2": _drawn(h, c, rng)}


def _standardized(z):
    """Each row of z, (rows, h), with mean 0 and a mean square of 1; a row without spread is 0."""
    deviation = z - z.mean(dim=1, keepdim=True)
    variance = deviation.square().mean(dim=1, keepdim=True)
    return deviation / torch.sqrt(variance + EPS)


def _losses(logits, y):
    """Of each row of logits, (rows, c), how improbable its label is: (rows,)."""
    log_p = torch.log_softmax(logits, dim=1)
    return -log_p[torch.arange(len(y)), y]


def loss_fn(params, x, y):
    """Return the mean loss of the rows that have a label; 0 where there is none.

    Rows without a label are left out before anything is computed of them: a NaN that is computed
    and then ignored still comes back in the gradient, as 0 times NaN.
    """
    labeled = y >= 0
    x, y = x[labeled], y[labeled]
    hidden = torch.relu(_standardized(x @ params["w1"]))
    return _losses(hidden @ params["w2"], y).sum() / max(len(y), 1)


def causes():
    """What was wrong with the script."""
    return ["init", "mask", "softmax", "spread"]
