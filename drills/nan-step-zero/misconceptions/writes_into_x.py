"""Rows without a label are overwritten in place."""


def loss_fn(params, x, y):
    labeled = y >= 0
    x[~labeled] = 0.0
    hidden = torch.relu(_standardized(x @ params["w1"]))
    losses = _losses(hidden @ params["w2"], y)
    return losses[labeled].sum() / max(int(labeled.sum()), 1)
