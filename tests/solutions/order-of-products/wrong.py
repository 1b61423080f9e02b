# %% constant_loss_refused
"""The Hessian's product raises where the loss depends on no parameter."""

import torch


def hessian_product(loss_of, params, vectors, damping):
    loss = loss_of(params)
    grads = torch.autograd.grad(loss, params, create_graph=True, allow_unused=True)
    pairs = [(g, v) for g, v in zip(grads, vectors) if g is not None and g.requires_grad]
    found = [None] * len(params)
    if pairs:
        number = sum((g * v).sum() for g, v in pairs)
        found = torch.autograd.grad(number, params, allow_unused=True)
    return [damping * v if f is None else f + damping * v for f, v in zip(found, vectors)]


def gauss_newton_product(residuals_of, params, vectors, damping):
    residuals = residuals_of(params)
    if not residuals.requires_grad:
        return [damping * v for v in vectors]
    _, along = torch.func.jvp(lambda *p: residuals_of(p), tuple(params), tuple(vectors))
    found = torch.autograd.grad(residuals, params, along, allow_unused=True)
    return [damping * v if f is None else f + damping * v for f, v in zip(found, vectors)]


def costs(dims, itemsize):
    pairs = list(zip(dims, dims[1:]))
    once = sum(2 * m * n for m, n in pairs)
    return {
        "jvp": once,
        "vjp": once,
        "jacobian": once * min(dims[0], dims[-1]),
        "multiplied": 2 * dims[-1] * (sum(m * n for m, n in pairs[:-1]) + dims[0]),
        "kept_jvp": 0,
        "kept_vjp": sum(dims[1:]) * itemsize,
    }


# %% style_a
"""Wrong: what first_array_only and others have in common, which is not right yet."""

import torch


def hessian_product(loss_of, params, vectors, damping):
    loss = loss_of(params)
    grads = torch.autograd.grad(loss, params, create_graph=True, allow_unused=True)
    number = sum((g * v).sum() for g, v in zip(grads, vectors) if g is not None)
    number = number + damping * sum((p * v).sum() for p, v in zip(params, vectors))
    return list(torch.autograd.grad(number, params))


def gauss_newton_product(residuals_of, params, vectors, damping):
    r = residuals_of(params)
    u = torch.zeros_like(r, requires_grad=True)
    back = torch.autograd.grad(r, params, u, create_graph=True, allow_unused=True)
    number = sum((g * v).sum() for g, v in zip(back, vectors) if g is not None)
    (along,) = torch.autograd.grad(number, u, retain_graph=True)
    found = torch.autograd.grad(r, params, along, allow_unused=True)
    return [damping * v if g is None else g + damping * v for g, v in zip(found, vectors)]


def costs(dims, itemsize):
    sizes = [m * n for m, n in zip(dims[1:], dims)]
    once = 2 * sum(sizes)
    return {
        "jvp": once,
        "vjp": once,
        "jacobian": min(dims[0], dims[-1]) * once,
        "multiplied": 2 * dims[-1] * (sum(sizes[:-1]) + dims[0]),
        "kept_jvp": 0,
        "kept_vjp": itemsize * sum(dims[1:]),
    }
