"""The second layer is divided by the root of d."""


def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w2 = torch.randn(h, c, generator=rng) / math.sqrt(d)
    return {"w1": _drawn(d, h, rng), "w2": w2.requires_grad_()}
