"""Projection onto a vocabulary and cross-entropy in one, without the logits of the whole batch.

With z = h w^T, p = softmax(z) and n counted tokens the loss is the mean of -log p[target], and

    dz     = (p - onehot(target)) / n      on counted tokens, 0 on the others
    grad_h = dz w
    grad_w = dz^T h

Everything that dz needs is there in the forward pass, one chunk of tokens after the other: the
gradients are made then, for an upstream gradient of 1, and the backward pass multiplies them by the
upstream gradient. What the chunks have in common is a sum, divided once.

Source: P.-L. Hsu and others, "Liger Kernel: Efficient Triton Kernels for LLM Training", 2024,
arXiv:2410.10989 (its fused linear cross-entropy).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np


def loss_forward(
    h: np.ndarray, w: np.ndarray, target: np.ndarray, chunk: int, ignore_index: int = -100
) -> tuple[float, Any]:
    """Return the mean over the counted tokens of -log softmax(h w^T)[target], in nats.

    Args:
        h: (N, D), float16, float32 or float64, any strides; never modified.
        w: (V, D), dtype of h; never modified.
        target: (N,), int64: 0 to V - 1, or ignore_index; never modified.
        chunk: how many tokens have logits at a time, at least 1.
        ignore_index: tokens with this target do not count; it may be a legal target.

    Returns:
        loss: 0.0 where no token counts.
        ctx: for `loss_backward`: both gradients, in float32 where h is float16.
    """
    wide = _wide(h.dtype)
    rows = np.flatnonzero(target != ignore_index)
    loss, grad_h, grad_w = 0.0, np.zeros(h.shape, wide), np.zeros(w.shape, wide)
    for some in _pieces(rows, chunk):
        h_some = h[some].astype(wide)
        losses, grad_logits = _cross_entropy(h_some @ w.T.astype(wide), target[some])
        loss += float(losses.sum())
        grad_h[some] = grad_logits @ w
        grad_w += grad_logits.T @ h_some
    # Sums over chunks, divided once: no chunk weighs more than its tokens do.
    n = max(len(rows), 1)
    return loss / n, (grad_h / n, grad_w / n, h.dtype)


def loss_backward(grad_loss: float, ctx: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradients of grad_loss * loss.

    Args:
        grad_loss: what arrives at the loss, such as a loss scale.
        ctx: what `loss_forward` returned; it can be used again.

    Returns:
        grad_h, grad_w: in the shapes and the dtype of h and w.
    """
    grad_h, grad_w, dtype = ctx
    # The scale comes before the rounding: in float16 what is below 3e-8 would be 0 by then.
    return (grad_loss * grad_h).astype(dtype), (grad_loss * grad_w).astype(dtype)


def _wide(dtype: np.dtype) -> np.dtype:
    """Return the dtype to compute in: at least float32."""
    return np.result_type(dtype, np.float32)


def _pieces(rows: np.ndarray, chunk: int) -> Iterator[np.ndarray]:
    """Yield the rows, at most `chunk` at a time."""
    for start in range(0, len(rows), chunk):
        yield rows[start : start + chunk]


def _cross_entropy(logits: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's loss, and the gradient of their sum with respect to the logits."""
    picked = np.arange(len(target)), target
    log_p = _log_softmax(logits)
    grad_logits = np.exp(log_p)
    grad_logits[picked] -= 1
    return -log_p[picked], grad_logits


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    """Return the logarithm of each row's softmax."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
