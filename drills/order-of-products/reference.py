"""Products with matrices of derivatives that are never built.

A product with the Hessian is the gradient of the number grad . v, so the gradient itself has to be
a function of the parameters that can be differentiated. A product with J^T J is a JVP followed by a
VJP; here the JVP is made of two VJPs, which every operation has. Each is worth a few gradients; the
matrix would take one for each parameter, or for each residual.

Costs are in FLOPs, 2 for a multiplication and an addition, and in bytes.

Source: Pearlmutter, "Fast exact multiplication by the Hessian", 1994.
"""

import itertools

import torch


def hessian_product(loss_of, params, vectors, damping):
    """Return (H + damping I) v, a list of tensors shaped like params.

    Args:
        loss_of: of a list of tensors like params, a 0-d tensor.
        params: list of tensors that require gradients.
        vectors: list of tensors shaped like params, v.
        damping: a number, at least 0.
    """
    grads = torch.autograd.grad(loss_of(params), params, create_graph=True, allow_unused=True)
    curved = [(g, v) for g, v in zip(grads, vectors, strict=True) if _has_graph(g)]
    found = _gradients([g for g, _ in curved], params, [v for _, v in curved])
    return _damped(found, vectors, damping)


def gauss_newton_product(residuals_of, params, vectors, damping):
    """Return (J^T J + damping I) v, a list of tensors shaped like params.

    Args:
        residuals_of: of a list of tensors like params, a tensor (M,); J is its Jacobian.
        params: list of tensors that require gradients.
        vectors: list of tensors shaped like params, v.
        damping: a number, at least 0.
    """
    residuals = residuals_of(params)
    found = _gradients([residuals], params, [_along(residuals, params, vectors)])
    return _damped(found, vectors, damping)


def costs(dims, itemsize):
    """Return what derivatives of a chain take: h_i = tanh(W_i h_(i-1)), y = h_k, J = dy/dx.

    Args:
        dims: n_0, ..., n_k, of at least two numbers.
        itemsize: bytes of a number.

    Returns:
        A dict of ints: FLOPs of matrix products, and bytes that are kept.
    """
    pairs = list(itertools.pairwise(dims))
    once = 2 * sum(m * n for m, n in pairs)
    return {
        "jvp": once,
        "vjp": once,
        "jacobian": min(dims[0], dims[-1]) * once,
        "multiplied": 2 * dims[-1] * (sum(m * n for m, n in pairs[:-1]) + dims[0]),
        "kept_jvp": 0,
        "kept_vjp": itemsize * sum(dims[1:]),
    }


def _along(residuals, params, vectors):
    """Return J v, from VJPs: J^T u is linear in u, and (J^T u) . v has the derivative J v."""
    u = torch.zeros_like(residuals, requires_grad=True)
    back = torch.autograd.grad(residuals, params, u, create_graph=True, allow_unused=True)
    number = sum((g * v).sum() for g, v in zip(back, vectors, strict=True) if g is not None)
    return torch.autograd.grad(number, u, retain_graph=True)[0]


def _has_graph(grad):
    """Return whether a gradient depends on anything."""
    return grad is not None and grad.requires_grad


def _gradients(of, params, arriving):
    """Return the gradients of params, zeros where there are none."""
    if not of:
        return [torch.zeros_like(p) for p in params]
    found = torch.autograd.grad(of, params, arriving, allow_unused=True)
    return [torch.zeros_like(p) if g is None else g for g, p in zip(found, params, strict=True)]


def _damped(found, vectors, damping):
    """Return found + damping v."""
    return [g + damping * v for g, v in zip(found, vectors, strict=True)]
