"""swiglu_mlp is a functools.partial over a general gated block; gradients come in a dict."""

import functools

import torch


class Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx, beta, x, w_gate, w_up, w_down):
        ctx.beta, ctx.shape = beta, x.shape
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g = x @ w_gate.t()
        return (g * torch.sigmoid(beta * g) * (x @ w_up.t())) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        x = x.reshape(-1, x.shape[-1])
        dy = grad_y.reshape(x.shape)
        g, u = x @ w_gate.t(), x @ w_up.t()
        sig = torch.sigmoid(ctx.beta * g)
        dh = dy @ w_down
        grads = {"down": dy.t() @ (g * sig * u)}
        dg, du = dh * u * (sig + ctx.beta * g * sig * (1 - sig)), dh * g * sig
        grads["x"] = (dg @ w_gate).add_(du @ w_up).reshape(ctx.shape)
        grads["gate"], grads["up"] = (d.t() @ x for d in (dg, du))
        return None, *(grads[name] for name in ("x", "gate", "up", "down"))


swiglu_mlp = functools.partial(Gated.apply, 1.0)


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
