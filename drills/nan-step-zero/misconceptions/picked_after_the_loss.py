"""Rows with a label are picked once all losses are computed."""


def loss_fn(params, x, y):
    hidden = torch.relu(_standardized(x @ params["w1"]))
    losses = _losses(hidden @ params["w2"], y)[y >= 0]
    return losses.sum() / max(len(losses), 1)
