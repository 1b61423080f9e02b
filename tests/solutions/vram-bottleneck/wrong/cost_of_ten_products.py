"""Rebuilds only one of the two projections in the count."""

import torch


class FrugalSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        gate = x.matmul(w_gate.t())
        torch.nn.functional.silu(gate, inplace=True)
        return gate.mul_(x.matmul(w_up.t())).matmul(w_down.t())

    @staticmethod
    def backward(ctx, dy):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows = x.reshape(-1, x.shape[-1])
        dy = dy.reshape(-1, dy.shape[-1])
        gate, up = rows.mm(w_gate.t()), rows.mm(w_up.t())
        sig = gate.sigmoid()
        silu = gate.mul_(sig)  # the pre-activation itself is not needed again
        dw_down = dy.t().mm(silu * up)
        dh = dy.mm(w_down)
        d_gate = up.mul_(dh)
        d_up = dh.mul_(silu)
        d_gate.mul_((1 - sig).mul_(silu).add_(sig))
        dx = d_gate.mm(w_gate).addmm_(d_up, w_up)
        return dx.reshape(x.shape), d_gate.t().mm(rows), d_up.t().mm(rows), dw_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    return FrugalSwiGLU.apply(x, w_gate, w_up, w_down)


class Step:
    """One step of training, by its sizes and its plan."""

    def __init__(self, rows, width, hidden, itemsize, plan):
        self.n, self.d, self.f, self.size, self.plan = rows, width, hidden, itemsize, plan

    @property
    def products(self):
        n, d, f = self.n, self.d, self.f
        into, out, back = (n, d, f), (n, f, d), (d, n, f)
        shapes = [into, into, out, into, back, out, out, back, back]
        return shapes + ([] if self.plan == "autograd" else [into])

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
        return (
            self.n * self.d + (4 * self.n * self.f if self.plan == "autograd" else 0)
        ) * self.size


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
