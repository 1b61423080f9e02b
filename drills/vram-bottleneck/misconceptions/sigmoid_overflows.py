"""Writes the sigmoid as exp(g) / (1 + exp(g)), which is inf / inf for a large g."""


def silu_slope(g):
    gate = torch.exp(g) / (1 + torch.exp(g))
    return gate * (1 + g * (1 - gate))
