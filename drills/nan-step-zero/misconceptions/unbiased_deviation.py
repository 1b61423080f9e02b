"""The variance with h - 1."""


def _standardized(z):
    deviation = z - z.mean(dim=1, keepdim=True)
    return deviation / torch.sqrt(z.var(dim=1, keepdim=True) + EPS)
