"""Takes sigmoid(g) for the derivative of silu."""


def silu_slope(g):
    return torch.sigmoid(g)
