# %% keeps-the-product
# killed_by: saved
"""The product can be computed again from x and w."""

class Squares(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        h = x @ w
        ctx.save_for_backward(x, w, h)
        return h * h

    @staticmethod
    def backward(ctx, grad_y):
        x, w, h = ctx.saved_tensors
        g = 2 * h * grad_y
        need_x, need_w = ctx.needs_input_grad
        return g @ w.t() if need_x else None, x.t() @ g if need_w else None
