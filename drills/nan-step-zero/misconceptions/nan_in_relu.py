"""relu by a comparison, which is false for NaN."""


def loss_fn(params, x, y):
    labeled = y >= 0
    x, y = x[labeled], y[labeled]
    normed = _standardized(x @ params["w1"])
    logits = torch.where(normed > 0, normed, 0.0) @ params["w2"]
    return _losses(logits, y).sum() / max(len(y), 1)
