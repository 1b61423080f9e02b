"""The standard deviation is detached."""


def _standardized(z):
    deviation = z - z.mean(dim=1, keepdim=True)
    variance = deviation.square().mean(dim=1, keepdim=True)
    return deviation / torch.sqrt(variance + EPS).detach()
