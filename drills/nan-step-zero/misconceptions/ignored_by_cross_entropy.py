"""cross_entropy is called with ignore_index on all rows."""


def loss_fn(params, x, y):
    hidden = torch.relu(_standardized(x @ params["w1"]))
    total = torch.nn.functional.cross_entropy(
        hidden @ params["w2"], y, ignore_index=-1, reduction="sum"
    )
    return total / max(int((y >= 0).sum()), 1)
