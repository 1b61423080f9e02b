"""The products of p and g are added up over the rows instead of over the classes."""


def softmax_vjp(p, g):
    return p * (g - (p * g).sum(axis=0))
