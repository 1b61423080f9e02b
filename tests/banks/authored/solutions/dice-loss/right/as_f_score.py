"""By true positives, false positives and false negatives."""

import numpy as np


def dice_forward(p, target, smooth):
    tp = np.einsum("nm,nm->n", p, target)
    fp = np.einsum("nm,nm->n", p, 1 - target)
    fn = np.einsum("nm,nm->n", 1 - p, target)
    score = (2 * tp + smooth) / (2 * tp + fp + fn + smooth)
    return (1 - score).mean(), dict(target=target, score=score, size=2 * tp + fp + fn + smooth)


def dice_backward(grad_loss, ctx):
    slope = (2 * ctx["target"] - ctx["score"][:, None]) / ctx["size"][:, None]
    return (-grad_loss / len(slope) * slope).astype(ctx["target"].dtype)
