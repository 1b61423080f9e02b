"""A step of training with weights in float16."""

import numpy as np


def half(program, h, w, target, chunk, pad, grad_loss):
    """Return loss and gradients of h and w as float16 holds them.

    Args:
        program: the functions under test.
        h: (N, D) float64, rounded to float16 before anything else.
        w: (V, D) float64, rounded too.
        target: (N,) int64.
        chunk: as in `loss_forward`.
        pad: the ignore_index.
        grad_loss: as in `loss_backward`.

    Returns:
        loss as it came; grad_h and grad_w, widened to float64; and the names of their dtypes, a
        list of two.
    """
    loss, ctx = program.loss_forward(
        h.astype(np.float16), w.astype(np.float16), target, chunk, ignore_index=pad
    )
    grad_h, grad_w = program.loss_backward(grad_loss, ctx)
    dtypes = [str(getattr(grad, "dtype", type(grad).__name__)) for grad in (grad_h, grad_w)]
    if isinstance(loss, np.floating | np.ndarray):
        loss = np.asarray(loss).astype(np.float64)
    wide = (np.asarray(grad).astype(np.float64) for grad in (grad_h, grad_w))
    return loss, *wide, dtypes


def twice(program, ctx, grad_loss, grad_second):
    """Return the gradients of two backward passes with one ctx.

    The caller adds to the gradients of the first in place before it asks for the second.

    Args:
        program: the functions under test; only `loss_backward` is called.
        ctx: what its `loss_forward` returned.
        grad_loss: what arrives at the loss the first time.
        grad_second: what arrives the second time.

    Returns:
        grad_h, grad_w as the first pass gave them, and grad_h, grad_w of the second.
    """
    first = program.loss_backward(grad_loss, ctx)
    kept = [np.array(grad) for grad in first]
    for grad in first:
        grad += 7.0
    return *kept, *program.loss_backward(grad_second, ctx)
