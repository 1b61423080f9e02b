"""Backward walks over chunks of rows, so that no temporary has more than 96 rows."""

import torch
import torch.nn.functional as F

CHUNK = 96


class ChunkedSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        y = x.new_empty(x.shape)
        rows, out = x.reshape(-1, x.shape[-1]), y.view(-1, x.shape[-1])
        for i in range(0, rows.shape[0], CHUNK):
            part = rows[i : i + CHUNK]
            out[i : i + CHUNK] = (F.silu(part @ w_gate.t()) * (part @ w_up.t())) @ w_down.t()
        return y

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        dx = torch.empty_like(rows)
        dw_gate, dw_up, dw_down = (
            torch.zeros(w.shape, dtype=w.dtype, device=w.device) for w in (w_gate, w_up, w_down)
        )
        for i in range(0, rows.shape[0], CHUNK):
            part, dpart = rows[i : i + CHUNK], dy[i : i + CHUNK]
            g, u = part @ w_gate.t(), part @ w_up.t()
            sig = torch.sigmoid(g)
            s, dh = g * sig, dpart @ w_down
            dg, du = dh * u * (sig + s * (1 - sig)), dh * s
            dx[i : i + CHUNK] = dg @ w_gate + du @ w_up
            dw_gate += dg.t() @ part
            dw_up += du.t() @ part
            dw_down += dpart.t() @ (s * u)
        return dx.reshape(x.shape), dw_gate, dw_up, dw_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    return ChunkedSwiGLU.apply(x, w_gate, w_up, w_down)


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
