"""The root has a floor."""


def _standardized(z):
    deviation = z - z.mean(dim=1, keepdim=True)
    return deviation / torch.sqrt(deviation.square().mean(dim=1, keepdim=True)).clamp(min=EPS)
