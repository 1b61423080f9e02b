"""Keeps the four inputs as attributes of ctx and saves nothing."""

import torch


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.x, ctx.weights = x, (w_gate, w_up, w_down)
        return (torch.nn.functional.silu(x @ w_gate.t()) * (x @ w_up.t())) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        w_gate, w_up, w_down = ctx.weights
        x, dy = ctx.x.flatten(0, -2) if ctx.x.dim() > 1 else ctx.x[None], grad_y
        dy = dy.flatten(0, -2) if dy.dim() > 1 else dy[None]
        g, u = x @ w_gate.t(), x @ w_up.t()
        sig = torch.sigmoid(g)
        dh = dy @ w_down
        dg, du = dh * u * (sig + g * sig * (1 - sig)), dh * (g * sig)
        dx = (dg @ w_gate + du @ w_up).reshape(ctx.x.shape)
        return dx, dg.t() @ x, du.t() @ x, dy.t() @ (g * sig * u)


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
