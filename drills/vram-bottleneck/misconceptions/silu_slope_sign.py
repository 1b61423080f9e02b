"""The derivative of silu with a minus before its second term."""


def silu_slope(g):
    gate = torch.sigmoid(g)
    return gate * (1 - g * (1 - gate))
