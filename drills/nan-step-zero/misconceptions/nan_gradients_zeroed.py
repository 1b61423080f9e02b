"""The root is taken of 0, and a hook puts 0 in the place of NaN in the gradient of w1."""


def _standardized(z):
    deviation = z - z.mean(dim=1, keepdim=True)
    return deviation / (deviation.square().mean(dim=1, keepdim=True).sqrt() + EPS)


right_loss = loss_fn


def loss_fn(params, x, y):
    w1 = params["w1"] * 1.0
    if w1.requires_grad:
        w1.register_hook(torch.nan_to_num)
    return right_loss({**params, "w1": w1}, x, y)
