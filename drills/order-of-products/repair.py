"""What conjugate gradients need: the damped Hessian times a vector."""

import torch


def hessian_product(loss_of, params, vectors, damping):
    """(H + damping I) v, shaped like params."""
    loss = loss_of(params)
    # why 2: A loss that depends on nothing has no gradient either; torch would refuse.
    if not loss.requires_grad:
        return [damping * v for v in vectors]
    # why: Without a graph of its own the gradient is a constant, whose derivative is 0: only the
    #      damping was left, and nobody was warned, because that has a graph.
    grads = torch.autograd.grad(loss, params, allow_unused=True, create_graph=True)
    # H v is the gradient of grad . v, and damping v that of damping p . v.
    number = sum((g * v).sum() for g, v in zip(grads, vectors) if g is not None)
    pairs = zip(params, vectors)
    number = number + damping * sum((p * v).sum() for p, v in pairs)
    return list(torch.autograd.grad(number, params))


# why 2: J v first, which is a vector, and then J^T times that. No matrix is made. A parameter that
#        nothing depends on has no gradient, and is damped like the others.
def gauss_newton_product(residuals_of, params, vectors, damping):
    """(J^T J + damping I) v, shaped like params."""
    residuals = residuals_of(params)
    if not residuals.requires_grad:
        return [damping * v for v in vectors]
    _, along = torch.func.jvp(lambda *p: residuals_of(p), tuple(params), tuple(vectors))
    found = torch.autograd.grad(residuals, params, along, allow_unused=True)
    return [damping * v if g is None else g + damping * v for g, v in zip(found, vectors)]


# why 3: A product of a matrix and a vector takes 2 m n FLOPs, whichever end it comes from. A
#        Jacobian is that for every input, or for every output. Going back needs every h_i.
def costs(dims, itemsize):
    """FLOPs and bytes of the derivatives of a chain."""
    sizes = [m * n for m, n in zip(dims[1:], dims)]
    return {
        "jvp": 2 * sum(sizes),
        "vjp": 2 * sum(sizes),
        "jacobian": min(dims[0], dims[-1]) * 2 * sum(sizes),
        "multiplied": 2 * dims[-1] * (sum(sizes[:-1]) + dims[0]),
        "kept_jvp": 0,
        "kept_vjp": itemsize * sum(dims[1:]),
    }
