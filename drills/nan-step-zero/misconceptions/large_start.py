"""The second layer is multiplied by the root that it should be divided by."""


def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w1 = torch.randn(d, h, generator=rng) * d**-0.5
    w2 = torch.randn(h, c, generator=rng) * h**0.5
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}
