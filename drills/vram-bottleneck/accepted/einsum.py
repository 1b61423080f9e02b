"""Every product is an einsum over named axes."""

import torch
from torch import einsum, sigmoid


class EinsumSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        gate = einsum("...d,fd->...f", x, w_gate)
        up = einsum("...d,fd->...f", x, w_up)
        return einsum("...f,df->...d", gate * sigmoid(gate) * up, w_down)

    @staticmethod
    def backward(ctx, dy):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        shape = x.shape
        x, dy = x.reshape(-1, shape[-1]), dy.reshape(-1, shape[-1])
        gate = einsum("nd,fd->nf", x, w_gate)
        up = einsum("nd,fd->nf", x, w_up)
        s = sigmoid(gate)
        dw_down = einsum("nd,nf->df", dy, gate * s * up)
        dh = einsum("nd,df->nf", dy, w_down)
        d_gate = dh * up * s * (1 + gate * (1 - s))
        d_up = dh * gate * s
        dx = einsum("nf,fd->nd", d_gate, w_gate) + einsum("nf,fd->nd", d_up, w_up)
        dw_gate = einsum("nf,nd->fd", d_gate, x)
        dw_up = einsum("nf,nd->fd", d_up, x)
        return dx.reshape(shape), dw_gate, dw_up, dw_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    return EinsumSwiGLU.apply(x, w_gate, w_up, w_down)


class Step:
    """One step of training, by its sizes and its plan."""

    def __init__(self, rows, width, hidden, itemsize, plan):
        self.n, self.d, self.f, self.size, self.plan = rows, width, hidden, itemsize, plan

    @property
    def products(self):
        n, d, f = self.n, self.d, self.f
        into, out, back = (n, d, f), (n, f, d), (d, n, f)
        shapes = [into, into, out, into, back, out, out, back, back]
        return shapes + ([] if self.plan == "autograd" else [into, into])

    @property
    def kernels(self):
        """Tensors of (N, F) that each element-wise kernel reads and writes."""
        eager = [(1, 1), (2, 1)], [(2, 1)] * 3
        if self.plan == "rebuild_fused":
            return [(2, 1), (3, 3)]
        return eager[0] * (2 if self.plan == "rebuild" else 1) + eager[1]

    def moved(self):
        for m, k, n in self.products:
            yield "matmul_bytes", (m * k + k * n + m * n) * self.size, 2 * m * k * n
        for read, written in self.kernels:
            yield "elementwise_bytes", (read + written) * self.n * self.f * self.size, 0
        yield "elementwise_bytes", 3 * self.n * self.d * self.size, 0

    def kept(self):
        return (self.n * self.d + (4 * self.n * self.f if self.plan == "autograd" else 0)) * self.size


def step_cost(rows, width, hidden, itemsize, plan):
    step = Step(rows, width, hidden, itemsize, plan)
    cost = {"flops": 0, "matmul_bytes": 0, "elementwise_bytes": 0, "kept_bytes": step.kept()}
    for part, nbytes, flops in step.moved():
        cost[part] += nbytes
        cost["flops"] += flops
    return cost


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    step = Step(rows, width, hidden, itemsize, plan)
    return sum(max(b / bytes_per_second, f / flops_per_second) for _, b, f in step.moved())
