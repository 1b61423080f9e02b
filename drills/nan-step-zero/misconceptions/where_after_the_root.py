"""where picks 0 for a row without spread, after the division."""


def _standardized(z):
    deviation = z - z.mean(dim=1, keepdim=True)
    variance = deviation.square().mean(dim=1, keepdim=True)
    return torch.where(variance > 0, deviation / torch.sqrt(variance), 0.0)
