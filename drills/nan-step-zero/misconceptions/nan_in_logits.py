"""Logits that are not finite are overwritten with 0."""


def loss_fn(params, x, y):
    labeled = y >= 0
    x, y = x[labeled], y[labeled]
    normed = _standardized(x @ params["w1"])
    logits = torch.nan_to_num(torch.relu(normed) @ params["w2"])
    return _losses(logits, y).sum() / max(len(y), 1)
