"""Experts are chosen by their logits, and places are counted expert by expert."""

import torch
from torch import nn


class Router(nn.Module):
    """Picks experts by logits, as most libraries do."""

    def __init__(self, k):
        super().__init__()
        self.k = k

    def forward(self, logits):
        top, idx = logits.sort(dim=-1, descending=True, stable=True)
        return idx[:, : self.k], top[:, : self.k].softmax(-1)


def moe(x, router, experts, k, capacity=None):
    logits = x @ router
    n, n_experts = logits.shape
    idx, gate = Router(k)(logits)
    flat = idx.t().reshape(-1)
    slot = torch.zeros_like(flat)
    for e in range(n_experts):
        slot[flat == e] = torch.arange(int((flat == e).sum()))
    limit = n * k if capacity is None else capacity
    keep = slot < limit
    tokens = torch.arange(n).repeat(k)[keep]
    flat_kept, g = flat[keep], gate.t().reshape(-1)[keep]
    y = x.new_zeros(n, experts.shape[-1])
    for e in flat_kept.unique().tolist():
        on = flat_kept == e
        y = torch.index_add(y, 0, tokens[on], g[on].unsqueeze(1) * (x[tokens[on]] @ experts[e]))
    load = torch.zeros(n_experts, dtype=x.dtype).index_add_(
        0, flat, torch.ones(len(flat), dtype=x.dtype)
    )
    return y, n_experts * (load / len(flat)) @ logits.softmax(-1).mean(0)


def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    n, _ = chosen.shape
    token_device = torch.arange(n).div(n // devices, rounding_mode="floor")
    hits = torch.zeros(n, devices, dtype=torch.long)
    expert_device = chosen.div(experts // devices, rounding_mode="floor")
    hits.scatter_add_(1, expert_device, torch.ones_like(expert_device))
    hits[torch.arange(n), token_device] = 0
    row = width * itemsize
    return {
        "per_choice": int(hits.sum()) * row,
        "per_device": int((hits > 0).sum()) * row,
        "padded": devices * (experts - experts // devices) * slots * row,
    }
