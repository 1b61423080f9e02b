"""The loss of a language model's last layer, a chunk of tokens at a time."""

import numpy as np


def loss_forward(h, w, target, chunk, ignore_index=-100):
    """The mean loss, and the gradients, made while the logits are there."""
    # why: A mean of the chunks' means weighs the tokens of a short chunk more. Sums over tokens
    #      are divided by one number, that of the tokens that count.
    count = max(int((target != ignore_index).sum()), 1)
    loss = 0.0
    # why 2: With float16 all that lies between is float32; the other dtypes stay as they are.
    dtype, wide = h.dtype, np.result_type(h.dtype, np.float32)
    h, w = h.astype(wide), w.astype(wide)
    grad_h, grad_w = np.zeros_like(h), np.zeros_like(w)
    for start in range(0, len(h), chunk):
        # why 2: Padding is left out before anything is projected. All sums over nothing are 0.
        some = start + np.flatnonzero(target[start : start + chunk] != ignore_index)
        # why: Each chunk adds sums over its tokens.
        total, grad_logits = cross_entropy(h[some] @ w.T, target[some])
        loss += total / count
        grad_h[some] = grad_logits @ w / count
        grad_w += grad_logits.T @ h[some] / count
    # why 2: The gradients stay wide until grad_loss has multiplied them.
    return float(loss), (grad_h, grad_w, dtype)


def loss_backward(grad_loss, ctx):
    """The gradients of the loss: all the work is done already."""
    # why 2: The dtype to return comes along.
    grad_h, grad_w, dtype = ctx
    # why: They were made for a 1 that arrives at the loss, and are linear in what arrives.
    grad_h, grad_w = grad_loss * grad_h, grad_loss * grad_w
    # why 2: Rounded once, after the scale: in float16 what is below 3e-8 would have been 0 before.
    return grad_h.astype(dtype), grad_w.astype(dtype)


def cross_entropy(logits, target):
    # why: The sum, and its gradient: only the caller knows how many tokens there are.
    """The summed loss of some tokens, and its gradient by their logits."""
    rows = np.arange(len(target))
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    grad_logits = np.exp(log_p)
    grad_logits[rows, target] -= 1
    # why: Without a mean within the chunk.
    return -log_p[rows, target].sum(), grad_logits
