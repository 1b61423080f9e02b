# %% forward_over_reverse
"""The Hessian's product by a JVP of the gradient."""

import torch


def _grad(outputs, inputs, vectors=None, **kw):
    """A gradient with zeros where nothing depends."""
    if vectors is None:
        vectors = [torch.ones_like(o) for o in outputs]
    pairs = [(o, v) for o, v in zip(outputs, vectors) if o.requires_grad]
    if not pairs:
        return [torch.zeros_like(i) for i in inputs]
    found = torch.autograd.grad(
        [o for o, _ in pairs], inputs, [v for _, v in pairs], allow_unused=True, **kw
    )
    return [torch.zeros_like(i) if g is None else g for i, g in zip(inputs, found)]


def _damped(product, vectors, damping):
    return [(h + damping * v).detach() for h, v in zip(product, vectors)]


def hessian_product(loss_of, params, vectors, damping):
    from torch.func import grad, jvp
    def f(*p):
        return loss_of(list(p))
    g = grad(f, argnums=tuple(range(len(params))))
    _, hv = jvp(g, tuple(p.detach() for p in params), tuple(vectors))
    return _damped(hv, vectors, damping)


def gauss_newton_product(residuals_of, params, vectors, damping):
    r = residuals_of(params)
    u = torch.zeros_like(r, requires_grad=True)
    jt_u = _grad([r], params, [u], create_graph=True)
    (jv,) = _grad(jt_u, [u], vectors, retain_graph=True)
    return _damped(_grad([r], params, [jv]), vectors, damping)


def costs(dims, itemsize):
    pairs = list(zip(dims, dims[1:]))
    one = sum(2 * m * n for m, n in pairs)
    out = dims[-1]
    multiplied = sum(2 * out * m * n for m, n in pairs[:-1]) + 2 * out * dims[0]
    return {
        "jvp": one,
        "vjp": one,
        "jacobian": one * min(dims[0], out),
        "multiplied": multiplied,
        "kept_jvp": 0,
        "kept_vjp": sum(dims[1:]) * itemsize,
    }


# %% jvp_and_vjp
"""J v and J^T u from torch.func."""

import torch


def _grad(outputs, inputs, vectors=None, **kw):
    """A gradient with zeros where nothing depends."""
    if vectors is None:
        vectors = [torch.ones_like(o) for o in outputs]
    pairs = [(o, v) for o, v in zip(outputs, vectors) if o.requires_grad]
    if not pairs:
        return [torch.zeros_like(i) for i in inputs]
    found = torch.autograd.grad(
        [o for o, _ in pairs], inputs, [v for _, v in pairs], allow_unused=True, **kw
    )
    return [torch.zeros_like(i) if g is None else g for i, g in zip(inputs, found)]


def _damped(product, vectors, damping):
    return [(h + damping * v).detach() for h, v in zip(product, vectors)]


def hessian_product(loss_of, params, vectors, damping):
    grads = _grad([loss_of(params)], params, create_graph=True)
    return _damped(_grad(grads, params, vectors), vectors, damping)


def gauss_newton_product(residuals_of, params, vectors, damping):
    from torch.func import jvp, vjp
    def f(*p):
        return residuals_of(list(p))
    _, jv = jvp(f, tuple(p.detach() for p in params), tuple(vectors))
    _, back = vjp(f, *(p.detach() for p in params))
    return _damped(back(jv), vectors, damping)


def costs(dims, itemsize):
    pairs = list(zip(dims, dims[1:]))
    one = sum(2 * m * n for m, n in pairs)
    out = dims[-1]
    multiplied = sum(2 * out * m * n for m, n in pairs[:-1]) + 2 * out * dims[0]
    return {
        "jvp": one,
        "vjp": one,
        "jacobian": one * min(dims[0], out),
        "multiplied": multiplied,
        "kept_jvp": 0,
        "kept_vjp": sum(dims[1:]) * itemsize,
    }
