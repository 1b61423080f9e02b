"""What conjugate gradients need: the damped Hessian times a vector."""

import torch


def hessian_product(loss_of, params, vectors, damping):
    """(H + damping I) v, shaped like params."""
    loss = loss_of(params)
    grads = torch.autograd.grad(loss, params, allow_unused=True)
    # H v is the gradient of grad . v, and damping v that of damping p . v.
    number = sum((g * v).sum() for g, v in zip(grads, vectors) if g is not None)
    pairs = zip(params, vectors)
    number = number + damping * sum((p * v).sum() for p, v in pairs)
    return list(torch.autograd.grad(number, params))
