"""Mean and standard deviation are taken without a gradient."""


def _standardized(z):
    with torch.no_grad():
        mean = z.mean(dim=1, keepdim=True)
        spread = torch.sqrt((z - mean).square().mean(dim=1, keepdim=True) + EPS)
    return (z - mean) / spread
