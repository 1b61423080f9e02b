"""The products of p and g are added up over all rows instead of over each row's classes."""


def softmax_vjp(p, g):
    return p * (g - (p * g).sum())
