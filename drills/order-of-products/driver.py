"""Losses and residuals of small networks, and products with their matrices of derivatives."""

import torch


def _leaves(tensors):
    """Return parameters of their own, each with a gradient of the trainer's on it."""
    params = [t.detach().clone().requires_grad_() for t in tensors]
    for p in params:
        p.grad = p.detach() + 1
    return params


def _left(params):
    """Return the trainer's own gradients as they are left; a frozen parameter has none."""
    return [p.grad if p.requires_grad else None for p in params]


def _given(found):
    """Return tensors without what made them."""
    return [f.detach() if isinstance(f, torch.Tensor) else f for f in found]


def _residuals(x, t, kind=""):
    def of(params):
        if kind == "constant":  # a batch that touches no parameter
            return -t.reshape(-1)
        w1, b1, w2 = params[:3]
        y = torch.tanh(x @ w1 + b1) @ w2
        # y - t; in forward mode a minus with a t that has no tangent would import torch's compiler
        return torch.stack([t, y]).diff(dim=0).reshape(-1)

    return of


def _losses(kind, x, t):
    """Return the loss of a list of parameters."""
    residuals = _residuals(x, t, kind)
    squares = lambda p: (residuals(p) ** 2).sum() / 2  # noqa: E731
    return {
        "squares": squares,
        "constant": squares,
        "mean": lambda p: residuals(p).mean(),
        "linear": lambda p: 3 * p[0].sum() - p[1].sum() + (p[2] / 2).sum(),
        "one-is-linear": lambda p: (p[0] ** 3).sum() * p[1].mean() + 2 * p[2].sum(),
    }[kind]


def quadratic(program, h, p, v, damping):
    """Return the product for the loss p^T h p / 2, where h is symmetric."""
    h = h.detach()
    params, vectors = _leaves([p]), [v.detach()]
    found = program.hessian_product(lambda q: q[0] @ h @ q[0] / 2, params, vectors, damping)
    return _given(found)[0]


def network(program, kind, x, t, w1, b1, w2, v1, v2, v3, damping):
    """Return the three arrays of the product, and the trainer's gradients as left."""
    loss_of = _losses(kind, x.detach(), t.detach())
    params, vectors = _leaves([w1, b1, w2]), [v.detach() for v in (v1, v2, v3)]
    found = program.hessian_product(loss_of, params, vectors, damping)
    return [*_given(found), _left(params)]


def spare(program, kind, x, t, w1, b1, w2, v1, v2, v3, damping):
    """Return the product of four parameters, of which the last is used by nothing."""
    loss_of = _losses(kind, x.detach(), t.detach())
    params, vectors = _leaves([w1, b1, w2, v2]), [v.detach() for v in (v1, v2, v3, b1)]
    return _given(program.hessian_product(loss_of, params, vectors, damping))


def spare_squares(program, kind, x, t, w1, b1, w2, v1, v2, v3, damping):
    """Return the same for J^T J."""
    residuals_of = _residuals(x.detach(), t.detach(), kind)
    params, vectors = _leaves([w1, b1, w2, v2]), [v.detach() for v in (v1, v2, v3, b1)]
    return _given(program.gauss_newton_product(residuals_of, params, vectors, damping))


def gauss_newton(program, x, t, w1, b1, w2, v1, v2, v3, damping):
    """Return the three arrays of the product, and the trainer's gradients as left."""
    residuals_of = _residuals(x.detach(), t.detach())
    params, vectors = _leaves([w1, b1, w2]), [v.detach() for v in (v1, v2, v3)]
    found = program.gauss_newton_product(residuals_of, params, vectors, damping)
    return [*_given(found), _left(params)]


def gradients(_, kind, x, t, w1, b1, w2):
    """Return two ordinary gradients: the yardstick for FLOPs.

    Two of them, so that there is room for element-wise work: forward mode has more than autograd.
    """
    params = _leaves([w1, b1, w2])
    loss_of = _losses(kind, x.detach(), t.detach())
    return [g for _ in range(2) for g in torch.autograd.grad(loss_of(params), params)]


def price(program, dims, itemsize):
    """Return what `costs` gives for a list of ints."""
    return program.costs([int(n) for n in dims], itemsize)
