"""The loss of a language model's last layer, a chunk of tokens at a time."""

import numpy as np


def loss_forward(h, w, target, chunk, ignore_index=-100):
    """The mean loss, and the gradients, made while the logits are there."""
    chunks = -(-len(h) // chunk)
    loss = 0.0
    grad_h, grad_w = np.zeros_like(h), np.zeros_like(w)
    for start in range(0, len(h), chunk):
        some = slice(start, start + chunk)
        mean, grad_logits = cross_entropy(h[some] @ w.T, target[some])
        loss += mean / chunks
        grad_h[some] = grad_logits @ w / chunks
        grad_w += grad_logits.T @ h[some] / chunks
    return loss, (grad_h, grad_w)


def loss_backward(grad_loss, ctx):
    """The gradients of the loss: all the work is done already."""
    grad_h, grad_w = ctx
    return grad_h, grad_w


def cross_entropy(logits, target):
    """The mean loss of some tokens, and its gradient by their logits."""
    rows = np.arange(len(target))
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    grad_logits = np.exp(log_p)
    grad_logits[rows, target] -= 1
    return -log_p[rows, target].mean(), grad_logits / len(target)
