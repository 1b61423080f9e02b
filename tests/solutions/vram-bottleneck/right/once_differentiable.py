"""Declares itself once differentiable and takes the slope of silu from torch's own kernel."""

import torch
from torch.autograd.function import once_differentiable

linear, silu = torch.nn.functional.linear, torch.nn.functional.silu


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        ctx.set_materialize_grads(False)
        return linear(silu(linear(x, w_gate)).mul_(linear(x, w_up)), w_down)

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        if dy is None:
            return None, None, None, None
        x, w_gate, w_up, w_down = ctx.saved_tensors
        shape, x, dy = x.shape, x.reshape(-1, x.shape[-1]), dy.reshape(-1, x.shape[-1])
        gate, up = linear(x, w_gate), linear(x, w_up)
        act = silu(gate)
        d_down = dy.t() @ (act * up)
        d_hidden = dy @ w_down
        d_gate = torch.ops.aten.silu_backward(d_hidden * up, gate)
        d_up = d_hidden.mul_(act)
        dx = torch.addmm(d_gate @ w_gate, d_up, w_up).reshape(shape)
        return dx, d_gate.t() @ x, d_up.t() @ x, d_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    return SwiGLU.apply(x, w_gate, w_up, w_down)


FORWARD = """
g = x @ wg
u = x @ wu
s : g
h : s u
y = h @ wd
"""
BACKWARD = """
dh = dy @ wd
dwd = dy @ h
ds : dh u
du : dh s
dg : ds g
a = dg @ wg
b = du @ wu
dx : a b
dwg = dg @ x
dwu = du @ x
"""
AGAIN = "g = x @ wg\nu = x @ wu\n"
REBUILT = AGAIN + "s : g\nh : s u\n"


def script(plan):
    """Return the lines of a step: `=` is a product, `:` an element-wise kernel."""
    if plan == "autograd":
        return FORWARD + BACKWARD
    if plan == "rebuild":
        return FORWARD + REBUILT + BACKWARD
    forward = FORWARD.replace("s : g\nh : s u\n", "h : g u\n")
    back = BACKWARD.replace("ds : dh u\ndu : dh s\ndg : ds g\n", "h du dg : g u dh\n")
    return forward + AGAIN + back


def trace(rows, width, hidden, plan):
    """Return (kind, elements, FLOPs) of every line of a step."""
    narrow, wide, weight = rows * width, rows * hidden, width * hidden
    size = dict.fromkeys("x y dy dx a b".split(), narrow)
    size |= dict.fromkeys("g u s h dh ds du dg".split(), wide)
    size |= dict.fromkeys("wg wu wd dwg dwu dwd".split(), weight)
    found = []
    for line in script(plan).split("\n"):
        names = [word for word in line.split() if word in size]
        if "@" in line:
            found.append(("matmul", sum(size[n] for n in names), 2 * rows * width * hidden))
        elif names:
            found.append(("elementwise", sum(size[n] for n in names), 0))
    return found


def step_cost(rows, width, hidden, itemsize, plan):
    lines = trace(rows, width, hidden, plan)
    moved = {kind: sum(e for k, e, _ in lines if k == kind) for kind in ("matmul", "elementwise")}
    kept = {"autograd": 1 * width + 4 * hidden}.get(plan, width)
    return {
        "kept_bytes": rows * kept * itemsize,
        "elementwise_bytes": moved["elementwise"] * itemsize,
        "matmul_bytes": moved["matmul"] * itemsize,
        "flops": sum(f for _, _, f in lines),
    }


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    return sum(
        max(elements * itemsize / bytes_per_second, flops / flops_per_second)
        for _, elements, flops in trace(rows, width, hidden, plan)
    )
