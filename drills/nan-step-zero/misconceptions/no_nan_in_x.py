"""What is NaN in x becomes 0, with a label or without."""


def loss_fn(params, x, y):
    labeled = y >= 0
    x, y = torch.nan_to_num(x[labeled], 0.0, 0.0, 0.0), y[labeled]
    hidden = torch.relu(_standardized(x @ params["w1"]))
    return _losses(hidden @ params["w2"], y).sum() / max(len(y), 1)
