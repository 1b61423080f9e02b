"""Rows whose variance is not above 0 become 0, those that are NaN among them."""


def _standardized(z):
    deviation = z - z.mean(dim=1, keepdim=True)
    variance = deviation.square().mean(dim=1, keepdim=True)
    spread = torch.where(variance > 0, variance, 1.0).sqrt()
    return torch.where(variance > 0, deviation / spread, 0.0)
