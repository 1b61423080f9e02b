"""Wrong: the damping term is half the squared norm of the parameters, whose gradient has no v."""

import torch


def hessian_product(loss_of, params, vectors, damping):
    loss = loss_of(params)
    grads = torch.autograd.grad(loss, params, create_graph=True, allow_unused=True)
    number = sum((g * v).sum() for g, v in zip(grads, vectors) if g is not None)
    number = number + damping * sum((p * p).sum() / 2 for p in params)
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
