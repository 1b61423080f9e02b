"""The loss of one row, mapped over the rows, in which unlabeled ones are replaced by the first unit vector."""

import torch


def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w1 = torch.randn(d, h, generator=rng) * d**-0.5
    w2 = torch.randn(h, c, generator=rng) * h**-0.5
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}


def row_loss(w1, w2, row, label):
    z = row @ w1
    deviation = z - z.sum() / z.numel()
    hidden = torch.relu(deviation * torch.rsqrt(deviation.dot(deviation) / z.numel() + 1e-8))
    logits = hidden @ w2
    known = torch.arange(logits.numel()) == label
    return torch.logsumexp(logits, 0) - torch.where(known, logits, 0.0).sum()


def loss_fn(params, x, y):
    rows = (y >= 0).tolist()
    if not any(rows):
        return (params["w1"].sum() + params["w2"].sum()) * 0
    filler = torch.eye(1, x.shape[1], dtype=x.dtype)
    data = torch.cat([x[i : i + 1] if known else filler for i, known in enumerate(rows)])
    losses = torch.vmap(row_loss, in_dims=(None, None, 0, 0))(params["w1"], params["w2"], data, y)
    return (losses * torch.tensor(rows)).sum() / sum(rows)


def causes():
    return ["init", "mask", "softmax", "spread"]
