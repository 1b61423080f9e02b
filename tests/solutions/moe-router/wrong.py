# %% nearly_equal_is_equal
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


# %% ties_left_to_topk
# named: ties-left-to-topk
"""Wrong: which of equal probabilities stay is left to topk."""

import torch
import torch.nn.functional as F
import numpy as np

def moe(x, router, experts, k, capacity=None):
    N, E = x.shape[0], experts.shape[0]
    p = torch.softmax(x @ router, dim=-1)
    top, idx = p.topk(k, dim=-1)
    top, idx = top[:, :k], idx[:, :k]
    w = top / top.sum(-1, keepdim=True)
    onehot = F.one_hot(idx, E)  # N,k,E
    flat = onehot.transpose(0, 1).reshape(k * N, E)
    pos = (torch.cumsum(flat, 0) - 1)
    pos = (pos * flat).sum(-1).reshape(k, N).T
    keep = torch.ones_like(pos, dtype=torch.bool) if capacity is None else pos < capacity
    y = x.new_zeros(N, experts.shape[2])
    # sort requests by expert, grouped gemm
    fe = idx[keep]; tok = torch.arange(N)[:, None].expand(N, k)[keep]; fw = w[keep]
    order = fe.argsort()
    fe, tok, fw = fe[order], tok[order], fw[order]
    outs = []
    for e, (xs, ws) in enumerate(zip(x[tok].split(torch.bincount(fe, minlength=E).tolist()), fw.split(torch.bincount(fe, minlength=E).tolist()))):
        outs.append((xs @ experts[e]) * ws[:, None])
    y = y.index_add(0, tok, torch.cat(outs))
    f = onehot.to(x.dtype).mean((0, 1))
    balance = E * (f * p.mean(0)).sum()
    return y, balance

def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    chosen = chosen.numpy(); N, k = chosen.shape
    row = width * itemsize
    src = np.arange(N) // (N // devices)
    dst = chosen // (experts // devices)
    remote = dst != src[:, None]
    oh = np.zeros((N, devices), bool)
    oh[np.arange(N)[:, None], dst] = True
    oh[np.arange(N), src] = False
    return {"per_choice": int(remote.sum()) * row, "per_device": int(oh.sum()) * row,
            "padded": devices * (experts - experts // devices) * slots * row}
