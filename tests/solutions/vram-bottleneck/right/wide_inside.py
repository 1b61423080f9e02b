"""bfloat16 is computed in float32 throughout, and cast once at the end; else nothing is cast."""

import torch


def _wide(tensors):
    return (t.float() if t.dtype == torch.bfloat16 else t for t in tensors)


class Careful(torch.autograd.Function):
    @staticmethod
    def forward(ctx, *inputs):
        ctx.save_for_backward(*inputs)
        x, gate, up, down = _wide(inputs)
        g = x @ gate.T
        return ((g * torch.sigmoid(g) * (x @ up.T)) @ down.T).to(inputs[0].dtype)

    @staticmethod
    def backward(ctx, grad):
        x, gate, up, down = _wide(ctx.saved_tensors)
        rows, grad = x.reshape(-1, x.shape[-1]), grad.to(x.dtype).reshape(-1, x.shape[-1])
        g, u = rows @ gate.T, rows @ up.T
        sig = torch.sigmoid(g)
        silu = g * sig
        back = grad @ down
        back_u, back_g = back * silu, back * u * (sig + silu - silu * sig)
        results = (
            (back_g @ gate + back_u @ up).reshape(x.shape),
            back_g.T @ rows,
            back_u.T @ rows,
            grad.T @ (silu * u),
        )
        wanted = zip(results, ctx.saved_tensors, ctx.needs_input_grad, strict=True)
        return tuple(r.to(t.dtype) if needed else None for r, t, needed in wanted)


swiglu_mlp = Careful.apply


# Every one of the products moves N D + F D + N F elements and takes 2 N D F FLOPs, whichever it is.
HIDDEN_TENSORS = {
    "autograd": (2, 3, 3, 3, 3),
    "rebuild": (2, 3, 2, 3, 3, 3, 3),
    "rebuild_fused": (3, 6),
}


def step_cost(rows, width, hidden, itemsize, plan):
    products = 9 if plan == "autograd" else 11
    kept = rows * width + (plan == "autograd") * 4 * rows * hidden
    return {
        "flops": products * 2 * rows * width * hidden,
        "matmul_bytes": products * itemsize * (rows * width + hidden * width + rows * hidden),
        "elementwise_bytes": itemsize * rows * (sum(HIDDEN_TENSORS[plan]) * hidden + 3 * width),
        "kept_bytes": itemsize * kept,
    }


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    cost = step_cost(rows, width, hidden, itemsize, plan)
    # All products are alike, so all of them are limited by the same thing; the rest only moves.
    matmuls = max(cost["matmul_bytes"] / bytes_per_second, cost["flops"] / flops_per_second)
    return matmuls + cost["elementwise_bytes"] / bytes_per_second
