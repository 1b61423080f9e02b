"""Writes y into a buffer that is kept for every shape and used again by the next call."""

BUFFERS = {}


class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g, u = projections(x, w_gate, w_up)
        y = BUFFERS.setdefault((x.shape, x.dtype), x.new_empty(x.shape))
        return y.copy_((F.silu(g) * u) @ w_down.t()).detach()
