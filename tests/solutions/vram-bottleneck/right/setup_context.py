"""The two-part style of torch 2: forward without ctx, and setup_context."""

import torch
import torch.nn.functional as F


class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(x, w_gate, w_up, w_down):
        return F.linear(F.silu(F.linear(x, w_gate)) * F.linear(x, w_up), w_down)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows = x.reshape(-1, x.size(-1))
        dy = grad_output.reshape(-1, grad_output.size(-1))
        gate, up = F.linear(rows, w_gate), F.linear(rows, w_up)
        sig = torch.sigmoid(gate)
        hidden = gate * sig
        grads = [None] * 4
        if ctx.needs_input_grad[3]:
            grads[3] = F.linear(dy.t(), (hidden * up).t())
        d_hidden = F.linear(dy, w_down.t())
        d_up = d_hidden * hidden
        d_gate = d_hidden * up * torch.addcmul(sig, hidden, 1 - sig)
        if ctx.needs_input_grad[0]:
            grads[0] = (d_gate @ w_gate + d_up @ w_up).reshape(x.shape)
        if ctx.needs_input_grad[1]:
            grads[1] = d_gate.t() @ rows
        if ctx.needs_input_grad[2]:
            grads[2] = d_up.t() @ rows
        return tuple(grads)


def swiglu_mlp(x, w_gate, w_up, w_down):
    return SwiGLUFn.apply(x, w_gate, w_up, w_down)


def _operations(n, d, f, plan):
    from collections import Counter

    product = ("matmul_bytes", n * d + d * f + n * f, 2 * n * d * f)
    silu = ("elementwise_bytes", 2 * n * f, 0)
    binary = ("elementwise_bytes", 3 * n * f, 0)
    step = Counter({product: 9, ("elementwise_bytes", 3 * n * d, 0): 1})
    if plan != "autograd":
        step[product] += 2
    if plan == "rebuild_fused":
        step.update([binary, ("elementwise_bytes", 6 * n * f, 0)])
    else:
        times = {"autograd": 1, "rebuild": 2}[plan]
        step.update({silu: times, binary: times + 3})
    return step


def step_cost(rows, width, hidden, itemsize, plan):
    from collections import Counter

    cost = Counter(kept_bytes=rows * width * itemsize)
    if plan == "autograd":
        cost["kept_bytes"] += 4 * rows * hidden * itemsize
    for (kind, elements, flops), count in _operations(rows, width, hidden, plan).items():
        cost.update({kind: count * elements * itemsize, "flops": count * flops})
    return cost


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    from math import fsum

    return fsum(
        count * max(elements * itemsize / bytes_per_second, flops / flops_per_second)
        for (_, elements, flops), count in _operations(rows, width, hidden, plan).items()
    )
