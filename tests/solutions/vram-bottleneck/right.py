# %% always_all_four
"""The shortest form: always returns all four gradients, frozen inputs or not."""

import torch
from torch.nn.functional import silu


class Block(torch.autograd.Function):
    @staticmethod
    def forward(ctx, *inputs):
        ctx.save_for_backward(*inputs)
        x, a, b, c = inputs
        return (silu(x @ a.T) * (x @ b.T)) @ c.T

    @staticmethod
    def backward(ctx, dy):
        x, a, b, c = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), dy.reshape(-1, x.shape[-1])
        g, u = rows @ a.T, rows @ b.T
        sig = g.sigmoid()
        s = sig * g
        dh = dy @ c
        dg = dh * u * (sig + s * (1 - sig))
        du = dh * s
        return (dg @ a + du @ b).view(x.shape), dg.T @ rows, du.T @ rows, dy.T @ (s * u)


swiglu_mlp = Block.apply


def _table(rows, width, hidden, plan):
    """Return elements and FLOPs of products and of element-wise kernels, as columns of tensors."""
    again = int(plan != "autograd")
    product = [rows * width + width * hidden + rows * hidden, 2 * rows * width * hidden]
    if plan == "rebuild_fused":
        others = [3 * rows * hidden, 6 * rows * hidden]
    else:
        others = ([2 * rows * hidden] + [3 * rows * hidden]) * (1 + again) + [3 * rows * hidden] * 3
    others.append(3 * rows * width)
    products = torch.tensor([product] * (9 + 2 * again), dtype=torch.int64)
    return products, torch.tensor([[count, 0] for count in others], dtype=torch.int64)


def step_cost(rows, width, hidden, itemsize, plan):
    products, others = _table(rows, width, hidden, plan)
    moved, flops = products.sum(dim=0).tolist()
    kept = 4 * rows * hidden if plan == "autograd" else 0
    return {
        "flops": flops,
        "matmul_bytes": moved * itemsize,
        "elementwise_bytes": int(others[:, 0].sum()) * itemsize,
        "kept_bytes": (rows * width + kept) * itemsize,
    }


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    every = torch.cat(_table(rows, width, hidden, plan)).double()
    moving, computing = every[:, 0] * itemsize / bytes_per_second, every[:, 1] / flops_per_second
    return torch.maximum(moving, computing).sum().item()


# %% aten_silu_backward
"""The slope of silu comes from torch's own kernel for it, in place where nobody reads it again."""

import torch


class Block(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gate, up, down):
        ctx.save_for_backward(x, gate, up, down)
        hidden = torch.nn.functional.silu(x @ gate.mT)
        hidden.mul_(x @ up.mT)
        return hidden @ down.mT

    @staticmethod
    def backward(ctx, dy):
        x, gate, up, down = ctx.saved_tensors
        flat, dy = x.flatten(0, -2) if x.dim() > 1 else x[None], dy.reshape(-1, down.shape[0])
        g, u = flat @ gate.mT, flat @ up.mT
        s = torch.nn.functional.silu(g)
        d_down = dy.mT @ (s * u)
        dh = dy @ down
        du = dh * s
        dg = torch.ops.aten.silu_backward(dh.mul_(u), g)
        dx = torch.addmm(du @ up, dg, gate).reshape(x.shape)
        return dx, dg.mT @ flat, du.mT @ flat, d_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    return Block.apply(x, w_gate, w_up, w_down)


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


# %% ctx_attributes
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


# %% functional_vjp
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


# %% fused_projection
"""Projects with one matmul over the concatenated weights, which are dropped again at once."""

import torch
import torch.nn.functional as F


class FusedSwiGLU(torch.autograd.Function):
    @staticmethod
    def project(x, w_gate, w_up):
        return (x @ torch.cat((w_gate, w_up)).t()).chunk(2, dim=-1)

    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        gate, up = FusedSwiGLU.project(x, w_gate, w_up)
        return (F.silu(gate) * up) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        gate, up = FusedSwiGLU.project(rows, w_gate, w_up)
        sig = torch.sigmoid(gate)
        dw_down = dy.t() @ (gate * sig * up)
        dh = dy @ w_down
        both = torch.cat((dh * up * sig * (1 + gate * (1 - sig)), dh * gate * sig), dim=-1)
        dx = both @ torch.cat((w_gate, w_up))
        dw_gate, dw_up = (part.clone() for part in (both.t() @ rows).chunk(2))
        return dx.reshape(x.shape), dw_gate, dw_up, dw_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    return FusedSwiGLU.apply(x, w_gate, w_up, w_down)


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
    one = max(
        (n * d + f * d + n * f) * itemsize / bytes_per_second, 2 * n * d * f / flops_per_second
    )
    return products * one + (moved * f + 3 * d) * n * itemsize / bytes_per_second


# %% hidden_tiles
"""Walks over tiles of the hidden width instead of rows, forward and backward."""

import torch
import torch.nn.functional as F


def tiles(width, size=64):
    return [slice(i, min(i + size, width)) for i in range(0, width, size)]


class TiledSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        y = 0
        for t in tiles(len(w_gate)):
            y = y + (F.silu(x @ w_gate[t].t()) * (x @ w_up[t].t())) @ w_down[:, t].t()
        return y

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        dx = torch.zeros_like(rows)
        dw_gate, dw_up, dw_down = (torch.empty_like(w) for w in (w_gate, w_up, w_down))
        for t in tiles(len(w_gate)):
            g, u = rows @ w_gate[t].t(), rows @ w_up[t].t()
            sig = torch.sigmoid(g)
            s, dh = g * sig, dy @ w_down[:, t]
            dg, du = dh * u * (sig + s * (1 - sig)), dh * s
            dx += dg @ w_gate[t] + du @ w_up[t]
            dw_gate[t], dw_up[t] = dg.t() @ rows, du.t() @ rows
            dw_down[:, t] = dy.t() @ (s * u)
        return dx.reshape(x.shape), dw_gate, dw_up, dw_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    return TiledSwiGLU.apply(x, w_gate, w_up, w_down)


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


# %% local_autograd
"""Lets a small autograd graph inside backward differentiate the two projections and the product."""

import torch
import torch.nn.functional as F


class LocalGraph(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        return (F.silu(x @ w_gate.t()) * (x @ w_up.t())) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        *leaves, w_down = (t.detach() for t in ctx.saved_tensors)
        for leaf in leaves:
            leaf.requires_grad_()
        x, w_gate, w_up = leaves
        with torch.enable_grad():
            h = F.silu(x @ w_gate.t()) * (x @ w_up.t())
        dx, dw_gate, dw_up = torch.autograd.grad(h, leaves, grad_y @ w_down)
        dy, h = grad_y.reshape(-1, grad_y.shape[-1]), h.detach().reshape(-1, h.shape[-1])
        return dx, dw_gate, dw_up, dy.t() @ h


def swiglu_mlp(x, w_gate, w_up, w_down):
    return LocalGraph.apply(x, w_gate, w_up, w_down)


def _table(rows, width, hidden, plan):
    """Return elements and FLOPs of products and of element-wise kernels, as columns of tensors."""
    again = int(plan != "autograd")
    product = [rows * width + width * hidden + rows * hidden, 2 * rows * width * hidden]
    if plan == "rebuild_fused":
        others = [3 * rows * hidden, 6 * rows * hidden]
    else:
        others = ([2 * rows * hidden] + [3 * rows * hidden]) * (1 + again) + [3 * rows * hidden] * 3
    others.append(3 * rows * width)
    products = torch.tensor([product] * (9 + 2 * again), dtype=torch.int64)
    return products, torch.tensor([[count, 0] for count in others], dtype=torch.int64)


def step_cost(rows, width, hidden, itemsize, plan):
    products, others = _table(rows, width, hidden, plan)
    moved, flops = products.sum(dim=0).tolist()
    kept = 4 * rows * hidden if plan == "autograd" else 0
    return {
        "flops": flops,
        "matmul_bytes": moved * itemsize,
        "elementwise_bytes": int(others[:, 0].sum()) * itemsize,
        "kept_bytes": (rows * width + kept) * itemsize,
    }


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    every = torch.cat(_table(rows, width, hidden, plan)).double()
    moving, computing = every[:, 0] * itemsize / bytes_per_second, every[:, 1] / flops_per_second
    return torch.maximum(moving, computing).sum().item()


# %% logsigmoid_slope
"""silu as g * exp(logsigmoid(g)), its slope as s * (1 + g * sigmoid(-g)); gradients by name."""

import torch
from torch.nn.functional import linear, logsigmoid


def _gate(g):
    return torch.exp(logsigmoid(g))


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g = linear(x, w_gate)
        return linear(g * _gate(g) * linear(x, w_up), w_down)

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        needed = dict(zip(("x", "w_gate", "w_up", "w_down"), ctx.needs_input_grad, strict=True))
        rows = x.contiguous().view(-1, x.shape[-1])
        dy = grad_y.contiguous().view(-1, x.shape[-1])
        g, u = linear(rows, w_gate), linear(rows, w_up)
        s = _gate(g)
        grads = {}
        if needed["w_down"]:
            grads["w_down"] = torch.mm(dy.t(), g * s * u)
        dh = torch.mm(dy, w_down)
        du = dh * (g * s)
        dg = dh * u * s * (1 + g * _gate(-g))
        if needed["w_gate"]:
            grads["w_gate"] = torch.mm(dg.t(), rows)
        if needed["w_up"]:
            grads["w_up"] = torch.mm(du.t(), rows)
        if needed["x"]:
            grads["x"] = torch.mm(dg, w_gate).add_(torch.mm(du, w_up)).view(x.shape)
        return tuple(grads.get(name) for name in needed)


def swiglu_mlp(x, w_gate, w_up, w_down):
    return Swish.apply(x, w_gate, w_up, w_down)


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


# %% noisy_main
"""Prints from every function and demonstrates itself under a __main__ guard."""

import sys

import torch
import torch.nn.functional as F

print("loading", __name__)


class ChattySwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        print("forward", tuple(x.shape), x.dtype, "-" * 200)
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        return (F.silu(x @ w_gate.t()) * (x @ w_up.t())) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        print("backward", ctx.needs_input_grad, file=sys.stderr)
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = rows @ w_gate.t(), rows @ w_up.t()
        sig = torch.sigmoid(g)
        s, dh = g * sig, dy @ w_down
        dg, du = dh * u * sig * (1 + g * (1 - sig)), dh * s
        print("norm of dg", float(dg.norm()))
        dx = (dg @ w_gate + du @ w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)


def swiglu_mlp(x, w_gate, w_up, w_down):
    return ChattySwiGLU.apply(x, w_gate, w_up, w_down)


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


if __name__ == "__main__":
    weights = [torch.randn(s, requires_grad=True) for s in ((8, 2), (8, 2), (2, 8))]
    swiglu_mlp(torch.randn(3, 2), *weights).sum().backward()
    raise SystemExit(f"gradient of w_gate: {weights[0].grad}")


# %% once_differentiable
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


# %% partial_application
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


# %% reshape_outside
"""The Function knows only matrices; a view around it takes care of leading dimensions, or a loop."""

import torch
import torch.nn.functional as F


class MatrixSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        assert x.dim() == 2
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        return torch.mm(F.silu(torch.mm(x, w_gate.t())) * torch.mm(x, w_up.t()), w_down.t())

    @staticmethod
    def backward(ctx, dy):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        gate = torch.mm(x, w_gate.t())
        up = torch.mm(x, w_up.t())
        sig = torch.sigmoid(gate)
        silu = gate * sig
        d_down = torch.mm(dy.t(), silu * up)
        d_hidden = torch.mm(dy, w_down)
        d_up = d_hidden * silu
        d_gate = d_hidden * up * (sig + silu * (1 - sig))
        dx = torch.mm(d_gate, w_gate) + torch.mm(d_up, w_up)
        return dx, torch.mm(d_gate.t(), x), torch.mm(d_up.t(), x), d_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    try:
        rows = x.view(-1, x.shape[-1])
    except RuntimeError:  # only a copy could be flattened
        return torch.stack([swiglu_mlp(part, w_gate, w_up, w_down) for part in x])
    return MatrixSwiGLU.apply(rows, w_gate, w_up, w_down).reshape(x.shape)


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
    one = max(
        (n * d + f * d + n * f) * itemsize / bytes_per_second, 2 * n * d * f / flops_per_second
    )
    return products * one + (moved * f + 3 * d) * n * itemsize / bytes_per_second


# %% setup_context
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


# %% style_a
"""Style: that of down_gradient_transposed_by_reshape and others, repaired."""

import torch
import torch.nn.functional as F


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g, u = x @ w_gate.t(), x @ w_up.t()
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = rows @ w_gate.t(), rows @ w_up.t()
        sig = torch.sigmoid(g)
        s = g * sig
        dh = dy @ w_down
        dg, du = dh * u * sig * (1 + g * (1 - sig)), dh * s
        dx = (dg @ w_gate + du @ w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)


def swiglu_mlp(x, w_gate, w_up, w_down):
    return SwiGLU.apply(x, w_gate, w_up, w_down)


# %% style_b
"""Style: that of seconds_in_milliseconds and others, repaired."""

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


# %% style_c
"""Style: that of cost_reads_dh_in_two_kernels and others, repaired."""

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


# %% tanh_form
"""Writes the sigmoid as (1 + tanh(g / 2)) / 2 and sums dx over a stack of both paths."""

import torch


def sigmoid(g):
    return torch.tanh(g / 2).add_(1).mul_(0.5)


class TanhSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g = torch.matmul(x, w_gate.transpose(0, 1))
        h = g * sigmoid(g) * torch.matmul(x, w_up.transpose(0, 1))
        return torch.matmul(h, w_down.transpose(0, 1))

    @staticmethod
    def backward(ctx, dy):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), dy.reshape(-1, x.shape[-1])
        g, u = rows @ w_gate.t(), rows @ w_up.t()
        sig, dh = sigmoid(g), dy @ w_down
        dg, du = dh * u * sig * (1 + g * (1 - sig)), dh * g * sig
        dx = torch.stack([dg @ w_gate, du @ w_up]).sum(0).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (g * sig * u)


def swiglu_mlp(x, w_gate, w_up, w_down):
    return TanhSwiGLU.apply(x, w_gate, w_up, w_down)


def _table(rows, width, hidden, plan):
    """Return elements and FLOPs of products and of element-wise kernels, as columns of tensors."""
    again = int(plan != "autograd")
    product = [rows * width + width * hidden + rows * hidden, 2 * rows * width * hidden]
    if plan == "rebuild_fused":
        others = [3 * rows * hidden, 6 * rows * hidden]
    else:
        others = ([2 * rows * hidden] + [3 * rows * hidden]) * (1 + again) + [3 * rows * hidden] * 3
    others.append(3 * rows * width)
    products = torch.tensor([product] * (9 + 2 * again), dtype=torch.int64)
    return products, torch.tensor([[count, 0] for count in others], dtype=torch.int64)


def step_cost(rows, width, hidden, itemsize, plan):
    products, others = _table(rows, width, hidden, plan)
    moved, flops = products.sum(dim=0).tolist()
    kept = 4 * rows * hidden if plan == "autograd" else 0
    return {
        "flops": flops,
        "matmul_bytes": moved * itemsize,
        "elementwise_bytes": int(others[:, 0].sum()) * itemsize,
        "kept_bytes": (rows * width + kept) * itemsize,
    }


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    every = torch.cat(_table(rows, width, hidden, plan)).double()
    moving, computing = every[:, 0] * itemsize / bytes_per_second, every[:, 1] / flops_per_second
    return torch.maximum(moving, computing).sum().item()


# %% wide_inside
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
