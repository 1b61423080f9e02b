"""The mean is taken of no rows too."""


def loss_fn(params, x, y):
    labeled = y >= 0
    x, y = x[labeled], y[labeled]
    hidden = torch.relu(_standardized(x @ params["w1"]))
    return _losses(hidden @ params["w2"], y).mean()
