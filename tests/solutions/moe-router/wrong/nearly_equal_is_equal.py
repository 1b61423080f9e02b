"""Wrong: probabilities that differ in their sixth digit count as equal."""

import torch


def _route(p, k):
    """The experts of each token, most probable first, ties to the lower index."""
    return torch.argsort(p.detach().round(decimals=3), dim=1, descending=True, stable=True)[:, :k]


def moe(x, router, experts, k, capacity=None):
    p = torch.softmax(x @ router, dim=1)
    chosen = _route(p, k)
    weights = p.gather(1, chosen)
    weights = weights / weights.sum(1, keepdim=True)
    n_experts = len(experts)
    # requests, choice by choice
    token = torch.arange(len(x), device=x.device).repeat(k)
    expert, weight = chosen.T.flatten(), weights.T.flatten()
    y = torch.zeros(len(x), experts.shape[2], dtype=x.dtype, device=x.device)
    for e in range(n_experts):
        mine = (expert == e).nonzero().flatten()
        if capacity is not None:
            mine = mine[:capacity]
        rows = x[token[mine]] @ experts[e]
        y = y.index_add(0, token[mine], weight[mine, None] * rows)
    load = torch.bincount(expert, minlength=n_experts) / expert.numel()
    return y, n_experts * (load.to(p.dtype) * p.mean(0)).sum()


def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    n, k = chosen.shape
    row = width * itemsize
    home = torch.arange(n) // (n // devices)
    where = torch.as_tensor(chosen) // (experts // devices)
    away = where != home[:, None]
    visits = sum(
        len({d for d in row_where if d != h}) for row_where, h in zip(where.tolist(), home.tolist())
    )
    return {
        "per_choice": int(away.sum()) * row,
        "per_device": visits * row,
        "padded": devices * (experts - experts // devices) * slots * row,
    }
