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
    grads = _gradients(loss_of(params), params, create_graph=True)
    return _damped(_gradients(_dot(grads, vectors), params), vectors, damping)


def gauss_newton_product(residuals_of, params, vectors, damping):
    """Return (J^T J + damping I) v, a list of tensors shaped like params.

    Args:
        residuals_of: of a list of tensors like params, a tensor (M,); J is its Jacobian.
        params: list of tensors that require gradients.
        vectors: list of tensors shaped like params, v.
        damping: a number, at least 0.
    """
    residuals = residuals_of(params)
    along = _along(residuals, params, vectors)
    return _damped(_gradients((residuals * along).sum(), params), vectors, damping)


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
    back = _gradients((residuals * u).sum(), params, create_graph=True)
    return _gradients(_dot(back, vectors), [u], retain_graph=True)[0]


def _gradients(number, params, **how):
    """Return the gradients of params, zeros where number does not depend on them."""
    found = [None for _ in params]
    if number.requires_grad:
        found = torch.autograd.grad(number, params, allow_unused=True, **how)
    return [torch.zeros_like(p) if g is None else g for g, p in zip(found, params, strict=True)]


def _dot(found, vectors):
    """Return found . v, one number over all arrays."""
    return sum((g * v).sum() for g, v in zip(found, vectors, strict=True))


def _damped(found, vectors, damping):
    """Return found + damping v."""
    return [g + damping * v for g, v in zip(found, vectors, strict=True)]
