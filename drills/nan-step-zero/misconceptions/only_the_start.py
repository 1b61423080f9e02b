"""The weights start small, and the loss is as it came."""


def loss_fn(params, x, y):
    z = x @ params["w1"]
    deviation = z - z.mean(dim=1, keepdim=True)
    spread = deviation.square().mean(dim=1, keepdim=True).sqrt()
    hidden = torch.relu(deviation / spread)
    weights = torch.exp(hidden @ params["w2"])
    p = weights / weights.sum(dim=1, keepdim=True)
    labeled = (y >= 0).to(p.dtype)
    nll = -torch.log(p[torch.arange(len(y)), y])
    return (nll * labeled).sum() / labeled.sum()


def causes():
    return ["init"]
