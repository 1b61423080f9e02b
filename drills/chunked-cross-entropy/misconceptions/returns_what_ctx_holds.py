"""Where 1 arrives, the arrays in ctx are returned themselves."""

def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    if grad_loss == 1:
        return grad_h.astype(dtype, copy=False), grad_w.astype(dtype, copy=False)
    return (grad_loss * grad_h).astype(dtype), (grad_loss * grad_w).astype(dtype)
