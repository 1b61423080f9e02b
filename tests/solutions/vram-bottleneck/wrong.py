# %% checkpoint_reentrant
"""Uses the older, reentrant form of torch.utils.checkpoint."""

import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


def block(x, w_gate, w_up, w_down):
    return (F.silu(x @ w_gate.t()) * (x @ w_up.t())) @ w_down.t()


def swiglu_mlp(x, w_gate, w_up, w_down):
    return checkpoint(block, x, w_gate, w_up, w_down, use_reentrant=True)


# %% checkpoint_under_identity
"""Hides torch.utils.checkpoint of the hidden layer under a Function for the last matmul, which saves h."""

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class Down(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h, w_down):
        ctx.save_for_backward(h, w_down)
        return h @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        h, w_down = ctx.saved_tensors
        dy = grad_y.reshape(-1, grad_y.shape[-1])
        return grad_y @ w_down, dy.t() @ h.reshape(-1, h.shape[-1])


def hidden(x, w_gate, w_up):
    return F.silu(x @ w_gate.t()) * (x @ w_up.t())


def swiglu_mlp(x, w_gate, w_up, w_down):
    return Down.apply(checkpoint(hidden, x, w_gate, w_up, use_reentrant=False), w_down)


# %% cost_of_the_transpose
"""Adds a copy of every transposed weight to the bytes of the products."""

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
        matmul_bytes=products * (n * d + 2 * f * d + n * f) * itemsize,
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


# %% down_gradient_without_up
"""The gradient of w_down uses silu(g), where silu(g) * u belongs."""

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
            grads["w_down"] = torch.mm(dy.t(), g * s)
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


# %% flattened_copy_saved
"""Wrong: what is saved is x flattened, which is a copy where x is transposed."""

import functools

import torch


class Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx, beta, x, w_gate, w_up, w_down):
        ctx.beta, ctx.shape = beta, x.shape
        ctx.save_for_backward(x.reshape(-1, x.shape[-1]), w_gate, w_up, w_down)
        g = x @ w_gate.t()
        return (g * torch.sigmoid(beta * g) * (x @ w_up.t())) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
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


# %% frozen_inputs_raise
"""Asks a local graph for the gradients of all inputs, also of frozen ones, which raises."""

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
        dy = grad_y.reshape(-1, x.shape[-1])
        leaves = [
            t.detach().requires_grad_(n)
            for t, n in zip((x, w_gate, w_up, w_down), ctx.needs_input_grad)
        ]
        with torch.enable_grad():
            h = F.silu(leaves[0] @ leaves[1].t()) * (leaves[0] @ leaves[2].t())
        grads = torch.autograd.grad(h, leaves[:3], grad_y @ w_down)
        return (*grads, dy.t() @ h.detach().reshape(-1, h.shape[-1]))


def swiglu_mlp(x, w_gate, w_up, w_down):
    return SwiGLU.apply(x, w_gate, w_up, w_down)


# %% gate_detached
"""The gate's gradient stops: dg is 0, and with it dw_gate and that part of dx."""

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
        back_u, back_g = back * silu, torch.zeros_like(u)
        results = (
            (back_g @ gate + back_u @ up).reshape(x.shape),
            back_g.T @ rows,
            back_u.T @ rows,
            grad.T @ (silu * u),
        )
        wanted = zip(results, ctx.saved_tensors, ctx.needs_input_grad, strict=True)
        return tuple(r.to(t.dtype) if needed else None for r, t, needed in wanted)


swiglu_mlp = Careful.apply


# %% hooks_instead_of_a_function
"""Keeps ordinary autograd and packs what it saves with saved_tensors_hooks."""

import torch
import torch.nn.functional as F


def swiglu_mlp(x, w_gate, w_up, w_down):
    def pack(t):
        return ("kept", t) if t.untyped_storage().data_ptr() in known else ("sunk", t.cpu())

    known = {t.untyped_storage().data_ptr() for t in (x, w_gate, w_up, w_down)}
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed[1]):
        return (F.silu(x @ w_gate.t()) * (x @ w_up.t())) @ w_down.t()


# %% in_place_before_it_was_used
"""dh is multiplied by u in place before du is computed from it."""

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
        dg = torch.ops.aten.silu_backward(dh.mul_(u), g)
        du = dh * s
        dx = torch.addmm(du @ up, dg, gate).reshape(x.shape)
        return dx, dg.mT @ flat, du.mT @ flat, d_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    return Block.apply(x, w_gate, w_up, w_down)


# %% outer_products
"""Forms the weight gradient of w_down row by row in one large temporary."""

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
        return dx, dg.t() @ rows, du.t() @ rows, (dy.unsqueeze(2) * (s * u).unsqueeze(1)).sum(0)


def swiglu_mlp(x, w_gate, w_up, w_down):
    return SwiGLU.apply(x, w_gate, w_up, w_down)


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


# %% reshape_around_copies
"""Wrong: the reshape around the Function copies a transposed x, and the copy stays alive."""

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
    y = MatrixSwiGLU.apply(x.reshape(-1, x.shape[-1]), w_gate, w_up, w_down)
    return y.reshape(x.shape)
