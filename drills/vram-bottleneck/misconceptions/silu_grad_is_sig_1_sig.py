"""Takes the derivative of the sigmoid for the derivative of silu."""


def silu_slope(g):
    return torch.sigmoid(g) * (1 - torch.sigmoid(g))
