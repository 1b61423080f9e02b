# %% addmm-in-place
"""Reuses its own temporaries in place, and adds the second path of dx with addmm_."""

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

# Every one of the products moves N D + F D + N F elements and takes 2 N D F FLOPs, whichever it is.
HIDDEN_TENSORS = {"autograd": (2, 3, 3, 3, 3), "rebuild": (2, 3, 2, 3, 3, 3, 3), "rebuild_fused": (3, 6)}

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

# %% callable-object
"""The block is an instance with a __call__, and a dataclass carries the rebuilt activations."""

from dataclasses import dataclass

import torch
from torch import Tensor

@dataclass(frozen=True)
class Hidden:
    """What backward rebuilds from x: all (N, F)."""

    gate: Tensor
    up: Tensor

    @classmethod
    def of(cls, x, w_gate, w_up):
        return cls(x @ w_gate.mT, x @ w_up.mT)

    @property
    def silu(self):
        return self.gate * torch.sigmoid(self.gate)

    @property
    def slope(self):
        sig = torch.sigmoid(self.gate)
        return sig * (1 + self.gate * (1 - sig))

class Node(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        h = Hidden.of(x, w_gate, w_up)
        return (h.silu * h.up) @ w_down.mT

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = (t.reshape(-1, t.shape[-1]) for t in (x, grad_y))
        h = Hidden.of(rows, w_gate, w_up)
        back = dy @ w_down
        dg, du = back * h.up * h.slope, back * h.silu
        dx = (dg @ w_gate + du @ w_up).reshape(x.shape)
        return dx, dg.mT @ rows, du.mT @ rows, dy.mT @ (h.silu * h.up)

class SwiGLU:
    def __init__(self, node):
        self.node = node

    def __call__(self, x, w_gate, w_up, w_down):
        return self.node.apply(x, w_gate, w_up, w_down)

swiglu_mlp = SwiGLU(Node)

def kernels(rows, width, hidden, plan):
    """Yield (is a product, elements, FLOPs) of every kernel of a step."""
    n, d, f = rows, width, hidden
    matmul = (True, n * d + d * f + n * f, 2 * n * d * f)
    wide = n * f
    for _ in range(11 if plan.startswith("rebuild") else 9):
        yield matmul
    if plan == "rebuild_fused":
        yield False, 3 * wide, 0  # g, u -> h
        yield False, 6 * wide, 0  # g, u, dh -> h, du, dg
    else:
        for _ in range(2 if plan == "rebuild" else 1):
            yield False, 2 * wide, 0  # s
            yield False, 3 * wide, 0  # h
        for _ in ("ds", "du", "dg"):
            yield False, 3 * wide, 0
    yield False, 3 * n * d, 0  # dx

def step_cost(rows, width, hidden, itemsize, plan):
    cost = dict.fromkeys(("flops", "matmul_bytes", "elementwise_bytes"), 0)
    for product, elements, flops in kernels(rows, width, hidden, plan):
        cost["matmul_bytes" if product else "elementwise_bytes"] += elements * itemsize
        cost["flops"] += flops
    cost["kept_bytes"] = rows * (width + (4 * hidden if plan == "autograd" else 0)) * itemsize
    return cost

def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    seconds = 0.0
    for _, elements, flops in kernels(rows, width, hidden, plan):
        seconds += max(elements * itemsize / bytes_per_second, flops / flops_per_second)
    return seconds

# %% chunked-rows
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

# %% einsum
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

# %% factory-closure
"""A factory makes the Function class from an activation and its slope."""

import torch

def gated_mlp(activation, slope):
    def hidden(x, w_gate, w_up):
        g = x @ w_gate.t()
        return g, x @ w_up.t(), activation(g)

    class GatedMLP(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w_gate, w_up, w_down):
            ctx.save_for_backward(x, w_gate, w_up, w_down)
            _, u, a = hidden(x, w_gate, w_up)
            return (a * u) @ w_down.t()

        @staticmethod
        def backward(ctx, dy):
            x, w_gate, w_up, w_down = ctx.saved_tensors
            flat = lambda t: t.reshape(-1, t.shape[-1])  # noqa: E731
            g, u, a = hidden(flat(x), w_gate, w_up)
            dh = flat(dy) @ w_down
            dg, du = dh * u * slope(g), dh * a
            dx = (dg @ w_gate + du @ w_up).reshape(x.shape)
            return dx, dg.t() @ flat(x), du.t() @ flat(x), flat(dy).t() @ (a * u)

    return lambda x, w_gate, w_up, w_down: GatedMLP.apply(x, w_gate, w_up, w_down)

def silu(g):
    return g * torch.sigmoid(g)

def silu_slope(g):
    s = torch.sigmoid(g)
    return s + g * s * (1 - s)

swiglu_mlp = gated_mlp(silu, silu_slope)

def _counts(plan):
    """Return how many products there are, and how many hidden tensors the other kernels move."""
    match plan:
        case "autograd":
            return 9, 14
        case "rebuild":
            return 11, 19
        case "rebuild_fused":
            return 11, 9
    raise ValueError(plan)

def step_cost(rows, width, hidden, itemsize, plan):
    n, d, f = float(rows), float(width), float(hidden)
    products, moved = _counts(plan)
    return dict(
        flops=products * 2.0 * n * d * f,
        matmul_bytes=products * (n * d + f * d + n * f) * itemsize,
        elementwise_bytes=(moved * n * f + 3.0 * n * d) * itemsize,
        kept_bytes=n * (d + 4.0 * f if plan == "autograd" else d) * itemsize,
    )

def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    n, d, f = rows, width, hidden
    products, moved = _counts(plan)
    one = max((n * d + f * d + n * f) * itemsize / bytes_per_second, 2 * n * d * f / flops_per_second)
    return products * one + (moved * f + 3 * d) * n * itemsize / bytes_per_second

# %% upcasting-chunks
"""Computes in the next wider dtype, a chunk of rows at a time, and casts the results back."""

import torch
from torch.nn.functional import silu

WIDER = {torch.bfloat16: torch.float32, torch.float32: torch.float64}

class UpcastSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, *weights):
        ctx.save_for_backward(x, *weights)
        wide = WIDER.get(x.dtype, x.dtype)
        w_gate, w_up, w_down = (w.to(wide) for w in weights)
        rows = x.reshape(-1, x.shape[-1])
        parts = [p.to(wide) for p in rows.split(64)]
        y = [((silu(p @ w_gate.t()) * (p @ w_up.t())) @ w_down.t()).to(x.dtype) for p in parts]
        return torch.cat(y).reshape(x.shape)

    @staticmethod
    def backward(ctx, grad_y):
        x, *weights = ctx.saved_tensors
        wide = WIDER.get(x.dtype, x.dtype)
        w_gate, w_up, w_down = (w.to(wide) for w in weights)
        sums = [torch.zeros(w.shape, dtype=wide, device=w.device) for w in weights]
        dx = []
        rows, dys = (t.reshape(-1, x.shape[-1]).split(64) for t in (x, grad_y))
        for p, dy in zip(rows, dys):
            p, dy = p.to(wide), dy.to(wide)
            g, u = p @ w_gate.t(), p @ w_up.t()
            sig = g.sigmoid()
            dh = dy @ w_down
            dg, du = dh * u * sig * (1 + g * (1 - sig)), dh * g * sig
            dx.append((dg @ w_gate + du @ w_up).to(x.dtype))
            for total, left, right in zip(sums, (dg, du, dy), (p, p, g * sig * u)):
                total += left.t() @ right
        return torch.cat(dx).reshape(x.shape), *(total.to(x.dtype) for total in sums)

def swiglu_mlp(x, w_gate, w_up, w_down):
    return UpcastSwiGLU.apply(x, w_gate, w_up, w_down)

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
