"""The gradients are converted to the dtype of h, and so is the scale."""

def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    with np.errstate(all="ignore"):
        grad_loss = dtype.type(grad_loss)
        return grad_loss * grad_h.astype(dtype), grad_loss * grad_w.astype(dtype)
