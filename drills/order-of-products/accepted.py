# %% graph-and-damping-in-one-number
"""As the starter is built: one number whose gradient is the whole product."""

import torch

def product_of(first, params, vectors, damping):
    number = torch.zeros((), dtype=params[0].dtype)
    for g, v in zip(first, vectors):
        if g is not None:
            number = number + (g * v).sum()
    for p, v in zip(params, vectors):
        number = number + damping * (p * v).sum()
    return torch.autograd.grad(number, params)

def hessian_product(loss_of, params, vectors, damping):
    loss = loss_of(params)
    if not loss.requires_grad:
        return [damping * v for v in vectors]
    first = torch.autograd.grad(loss, params, create_graph=True, allow_unused=True)
    return list(product_of(first, params, vectors, damping))

def gauss_newton_product(residuals_of, params, vectors, damping):
    r = residuals_of(params)
    if not r.requires_grad:
        return [damping * v for v in vectors]
    u = torch.zeros_like(r, requires_grad=True)
    back = torch.autograd.grad(r, params, u, create_graph=True, allow_unused=True)
    along = sum((g * v).sum() for g, v in zip(back, vectors) if g is not None)
    (jv,) = torch.autograd.grad(along, u, retain_graph=True)
    found = torch.autograd.grad(r, params, jv, allow_unused=True)
    return [damping * v + (0 if g is None else g) for g, v in zip(found, vectors)]

def costs(dims, itemsize):
    k = len(dims) - 1
    once = 0
    for i in range(1, k + 1):
        once += 2 * dims[i] * dims[i - 1]
    multiplied = 2 * dims[k] * dims[0]
    for i in range(1, k):
        multiplied += 2 * dims[k] * dims[i] * dims[i - 1]
    return dict(
        jvp=once, vjp=once, jacobian=once * min(dims[0], dims[k]), multiplied=multiplied,
        kept_jvp=0, kept_vjp=itemsize * sum(dims[1:]),
    )

# %% forward-over-reverse
"""The tangent of the gradient, in forward mode."""

import torch
from torch.func import grad, jvp, vjp

def hessian_product(loss_of, params, vectors, damping):
    at = tuple(p.detach() for p in params)
    gradient = grad(lambda p: loss_of(list(p)))
    _, turned = jvp(gradient, (at,), (tuple(vectors),))
    return [t + damping * v for t, v in zip(turned, vectors)]

def gauss_newton_product(residuals_of, params, vectors, damping):
    at = tuple(p.detach() for p in params)
    residuals = lambda p: residuals_of(list(p))
    _, jv = jvp(residuals, (at,), (tuple(vectors),))
    _, back = vjp(residuals, at)
    return [g + damping * v for g, v in zip(back(jv)[0], vectors)]

def costs(dims, itemsize):
    edges = [a * b for a, b in zip(dims, dims[1:])]
    flops = {"jvp": 2 * sum(edges), "vjp": 2 * sum(edges)}
    flops["jacobian"] = min(dims[0] * flops["jvp"], dims[-1] * flops["vjp"])
    flops["multiplied"] = 2 * dims[-1] * sum(edges[:-1], start=dims[0])
    return flops | {"kept_jvp": 0, "kept_vjp": sum(itemsize * n for n in dims[1:])}

# %% flat-vectors
"""Everything as one long vector, cut up at the end."""

import torch

def flat(tensors, like):
    return torch.cat([(torch.zeros_like(p) if t is None else t).reshape(-1) for t, p in zip(tensors, like)])

def cut(vector, like):
    return [one.view_as(p) for one, p in zip(vector.split([p.numel() for p in like]), like)]

def hessian_product(loss_of, params, vectors, damping):
    loss = loss_of(params)
    first = [None] * len(params)
    if loss.requires_grad:
        first = torch.autograd.grad(loss, params, create_graph=True, allow_unused=True)
    g, v = flat(first, params), flat(vectors, params)
    second = [None] * len(params)
    if g.requires_grad:
        second = torch.autograd.grad(g.dot(v), params, allow_unused=True)
    return cut(flat(second, params) + damping * v, params)

def gauss_newton_product(residuals_of, params, vectors, damping):
    v = flat(vectors, params)
    start = flat([p.detach() for p in params], params)
    _, jv = torch.func.jvp(lambda w: residuals_of(cut(w, params)), (start,), (v,))
    w = start.clone().requires_grad_()
    residuals = residuals_of(cut(w, params))
    jjv = torch.autograd.grad(residuals, w, jv)[0] if residuals.requires_grad else 0 * w.detach()
    return cut(jjv + damping * v, params)

def costs(dims, itemsize):
    def chain(rows, sizes):
        # rows times a product of matrices, from the output end
        return sum(2 * rows * m * n for m, n in zip(sizes[1:], sizes))

    n = len(dims)
    return {
        "jvp": chain(1, dims), "vjp": chain(1, dims[::-1]),
        "jacobian": chain(min(dims[0], dims[n - 1]), dims),
        "multiplied": chain(dims[-1], dims[:-1]) + chain(1, [dims[0], dims[-1]]),
        "kept_jvp": 0, "kept_vjp": itemsize * (sum(dims) - dims[0]),
    }

# %% library-functions
"""torch.autograd.functional, on detached parameters."""

import torch
from torch.autograd.functional import hvp, jvp, vjp

def copies(params):
    return tuple(p.detach().clone() for p in params)

def hessian_product(loss_of, params, vectors, damping):
    _, found = hvp(lambda *p: loss_of(list(p)) + 0 * sum((q**3).sum() for q in p), copies(params), tuple(vectors))
    return [f + damping * v for f, v in zip(found, vectors)]

def gauss_newton_product(residuals_of, params, vectors, damping):
    residuals = lambda *p: residuals_of(list(p))
    _, along = jvp(residuals, copies(params), tuple(vectors))
    _, found = vjp(residuals, copies(params), along)
    return [f + damping * v for f, v in zip(found, vectors)]

def costs(dims, itemsize):
    total = sum(2 * dims[i + 1] * dims[i] for i in range(len(dims) - 1))
    first = 2 * dims[0] * dims[-1]
    rest = [2 * dims[-1] * dims[i + 1] * dims[i] for i in range(len(dims) - 2)]
    return {
        "kept_vjp": float(itemsize * sum(dims[1:])), "kept_jvp": 0.0, "multiplied": float(first + sum(rest)),
        "jacobian": float(total * (dims[0] if dims[0] < dims[-1] else dims[-1])), "vjp": float(total), "jvp": float(total),
    }

# %% block-by-block
"""The gradient of g . v, one array of parameters after the other, with graphs kept."""

import torch

def hessian_product(loss_of, params, vectors, damping):
    total = [damping * v for v in vectors]
    try:
        grads = torch.autograd.grad(loss_of(params), params, create_graph=True, allow_unused=True)
    except RuntimeError:  # no graph at all
        return total
    for g, v in zip(grads, vectors):
        if g is None or not g.requires_grad:
            continue
        rows = torch.autograd.grad(g, params, grad_outputs=v, retain_graph=True, allow_unused=True)
        total = [t if r is None else t + r for t, r in zip(total, rows)]
    return total

def gauss_newton_product(residuals_of, params, vectors, damping):
    along = None
    for i, v in enumerate(vectors):
        def of_one(p, i=i):
            return residuals_of([*params[:i], p, *params[i + 1 :]])

        _, one = torch.func.jvp(of_one, (params[i].detach(),), (v,))
        along = one if along is None else along + one
    back = [None for _ in params]
    if (residuals := residuals_of(params)).grad_fn is not None:
        back = torch.autograd.grad(residuals, params, along.detach(), allow_unused=True)
    return [damping * v if g is None else g + damping * v for g, v in zip(back, vectors)]

def costs(dims, itemsize):
    price = {"jvp": 0, "multiplied": 0, "kept_jvp": 0, "kept_vjp": 0}
    done = None
    for n, m in zip(dims[-2::-1], dims[:0:-1]):
        price["jvp"] += 2 * m * n
        price["multiplied"] += 0 if done is None else 2 * dims[-1] * m * n
        price["kept_vjp"] += itemsize * m
        done = n
    price["multiplied"] += 2 * dims[-1] * done
    price["vjp"] = price["jvp"]
    price["jacobian"] = price["jvp"] * min(dims[0], dims[-1])
    return price

# %% perturbed-parameters
"""The derivative with respect to a step along v, at a step of 0: one number instead of many."""

import torch

def hessian_product(loss_of, params, vectors, damping):
    with torch.enable_grad():
        step = torch.zeros((), dtype=params[0].dtype, requires_grad=True)
        moved = [p + step * v for p, v in zip(params, vectors)]
        loss = loss_of(moved) + 0 * step * step
        (slope,) = torch.autograd.grad(loss, step, create_graph=True)
        found = [None] * len(params)
        if slope.requires_grad:
            found = torch.autograd.grad(slope, params, allow_unused=True)
    return [damping * v if f is None else f.add(v, alpha=damping) for f, v in zip(found, vectors)]

def gauss_newton_product(residuals_of, params, vectors, damping):
    step = torch.zeros((), dtype=params[0].dtype)
    with torch.no_grad():
        _, jv = torch.func.jvp(
            lambda s: residuals_of([p + s * v for p, v in zip(params, vectors)]), (step,), (torch.ones_like(step),)
        )
    r = residuals_of(params) + 0 * params[0].sum()
    found = torch.autograd.grad((r * jv).sum(), params, allow_unused=True)
    return [v * damping if f is None else f.add(v, alpha=damping) for f, v in zip(found, vectors)]

def costs(dims, itemsize):
    import numpy as np

    n = np.array(dims, dtype=np.int64)
    once = int(2 * (n[1:] * n[:-1]).sum())
    multiplied = int(2 * n[-1] * (n[1:-1] * n[:-2]).sum() + 2 * n[-1] * n[0])
    return {
        "jvp": once, "vjp": once, "jacobian": once * int(min(n[0], n[-1])),
        "multiplied": multiplied, "kept_jvp": 0, "kept_vjp": int(itemsize * n[1:].sum()),
    }

# %% a-class-of-products
"""An operator that is applied to a vector."""

import torch

class Curvature:
    def __init__(self, params, damping):
        self.params, self.damping = list(params), damping

    def turned(self, output, vector, create=False):
        if not isinstance(output, list):
            output, vector = [output], [vector]
        if not output[0].requires_grad:
            return [torch.zeros_like(p) for p in self.params]
        found = torch.autograd.grad(output, self.params, vector, create_graph=create, allow_unused=True)
        return [torch.zeros_like(p) if f is None else f for f, p in zip(found, self.params)]

    def plus_damping(self, found, vectors):
        return [f + self.damping * v for f, v in zip(found, vectors)]

class Hessian(Curvature):
    def times(self, loss_of, vectors):
        slope = self.turned(loss_of(self.params), None, create=True)
        pairs = [(s, v) for s, v in zip(slope, vectors) if s.requires_grad]
        if not pairs:
            return self.plus_damping([torch.zeros_like(p) for p in self.params], vectors)
        return self.plus_damping(self.turned(*map(list, zip(*pairs))), vectors)

class GaussNewton(Curvature):
    def times(self, residuals_of, vectors):
        _, along = torch.func.jvp(lambda *p: residuals_of(p), tuple(self.params), tuple(vectors))
        return self.plus_damping(self.turned(residuals_of(self.params), along), vectors)

def hessian_product(loss_of, params, vectors, damping):
    return Hessian(params, damping).times(loss_of, vectors)

def gauss_newton_product(residuals_of, params, vectors, damping):
    return GaussNewton(params, damping).times(residuals_of, vectors)

def costs(dims, itemsize):
    sizes = [a * b for a, b in zip(dims[:-1], dims[1:])]
    columns, rows = dims[0], dims[-1]
    return {
        "jvp": sum(map((2).__mul__, sizes)), "vjp": 2 * sum(sizes),
        "jacobian": 2 * sum(sizes) * min(columns, rows),
        "multiplied": 2 * rows * sum(sizes[:-1]) + 2 * rows * columns,
        "kept_jvp": 0, "kept_vjp": sum(dims[1:]) * itemsize,
    }

# %% hessian-whole
# part: 1
"""The whole Hessian, by the library, and then a product: right where nobody counts."""

import torch

def hessian_product(loss_of, params, vectors, damping):
    sizes = [p.numel() for p in params]

    def of_flat(w):
        return loss_of([one.view_as(p) for one, p in zip(w.split(sizes), params)])

    start = torch.cat([p.detach().reshape(-1) for p in params])
    v = torch.cat([v.reshape(-1) for v in vectors])
    found = torch.autograd.functional.hessian(of_flat, start) @ v + damping * v
    return [one.view_as(p) for one, p in zip(found.split(sizes), params)]

# %% dual-numbers
"""Forward mode by dual numbers, over the gradient for H and over the residuals for J."""

import torch
import torch.autograd.forward_ad as fwd

def tangent(function, params, vectors):
    with fwd.dual_level():
        out = function([fwd.make_dual(p, v) for p, v in zip(params, vectors)])
        found = [fwd.unpack_dual(one).tangent for one in out]
    return [torch.zeros_like(one) if t is None else t for one, t in zip(out, found)]

def hessian_product(loss_of, params, vectors, damping):
    def gradient(at):
        # a parameter that nothing depends on has a gradient of 0
        loss = loss_of(at) + 0 * sum((p * p).sum() for p in at)
        return torch.autograd.grad(loss, at, create_graph=True)

    return [(t + damping * v).detach() for t, v in zip(tangent(gradient, params, vectors), vectors)]

def gauss_newton_product(residuals_of, params, vectors, damping):
    (along,) = tangent(lambda at: [residuals_of(at)], params, vectors)
    residuals = residuals_of(params) + 0 * sum((p * p).sum() for p in params)
    found = torch.autograd.grad(residuals, params, along.detach())
    return [torch.add(g, v, alpha=damping) for g, v in zip(found, vectors)]

def costs(dims, itemsize):
    vector = matrices = kept = 0
    for i in range(len(dims) - 1):
        vector += 2 * dims[i] * dims[i + 1]
        kept += dims[i + 1] * itemsize
        if i + 2 < len(dims):
            matrices += 2 * dims[i] * dims[i + 1] * dims[-1]
    return {
        "jvp": vector, "vjp": vector, "kept_jvp": 0, "kept_vjp": kept,
        "jacobian": sorted([dims[0] * vector, dims[-1] * vector])[0],
        "multiplied": matrices + 2 * dims[0] * dims[-1],
    }
