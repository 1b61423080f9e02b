"""A batch without a label gives a new tensor that requires a gradient."""

right_loss = loss_fn


def loss_fn(params, x, y):
    if not (y >= 0).any():
        return torch.zeros((), requires_grad=True)
    return right_loss(params, x, y)
