"""Pulls the gradient back through the hidden layer with torch.func.vjp."""

import torch


def hidden(x, w_gate, w_up):
    return torch.nn.functional.silu(x @ w_gate.t()) * (x @ w_up.t())


class PullBack(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        return hidden(x, w_gate, w_up) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        h, pull = torch.func.vjp(hidden, rows, w_gate, w_up)
        dx, dw_gate, dw_up = pull(dy @ w_down)
        return dx.reshape(x.shape), dw_gate, dw_up, dy.t() @ h


def swiglu_mlp(x, w_gate, w_up, w_down):
    return PullBack.apply(x, w_gate, w_up, w_down)


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
