"""What arrives at the loss multiplies grad_h and not grad_w."""

def loss_backward(grad_loss, ctx):
    grad_h, grad_w, dtype = ctx
    return (grad_loss * grad_h).astype(dtype), grad_w.astype(dtype)
