"""Walks over chunks of rows in backward and joins them, where there may be none."""


class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, grad_y.shape[-1])
        dgs, dus, hs = [], [], []
        for start in range(0, len(rows), 128):
            g, u = projections(rows[start : start + 128], w_gate, w_up)
            s, dh = F.silu(g), dy[start : start + 128] @ w_down
            dgs.append(dh * u * silu_slope(g))
            dus.append(dh * s)
            hs.append(s * u)
        dg, du, h = torch.cat(dgs), torch.cat(dus), torch.cat(hs)
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ h
