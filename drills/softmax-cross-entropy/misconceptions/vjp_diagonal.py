"""The backward pass of the softmax multiplies by the diagonal of the Jacobian."""


def softmax_vjp(p, g):
    return p * (1 - p) * g
