# %% gathered_experts
"""Every request gathers its token and its expert; requests that are dropped have no row at all."""

import collections

import torch


def ranked(p, k):
    found = []
    for row in p.detach():
        left = row.clone()
        mine = []
        for _ in range(k):
            best = int((left == left.max()).nonzero()[0, 0])
            mine.append(best)
            left[best] = -1.0
        found.append(mine)
    return torch.tensor(found)


def moe(x, router, experts, k, capacity=None):
    logits = torch.einsum("nd,de->ne", x, router)
    p = (logits - torch.logsumexp(logits, dim=1, keepdim=True)).exp()
    chosen = ranked(p, k)
    used = collections.Counter()
    served = []
    for choice in range(k):
        for token, e in enumerate(chosen[:, choice].tolist()):
            if capacity is None or used[e] < capacity:
                served.append((token, choice, e))
            used[e] += 1
    weights = p.gather(1, chosen)
    weights = weights * (1 / weights.sum(1))[:, None]
    y = torch.zeros(len(x), experts.shape[2], dtype=x.dtype)
    if served:
        token, choice, e = torch.tensor(served).T
        rows = torch.bmm(x[token][:, None], experts[e])[:, 0]
        y = y.index_add(0, token, weights[token, choice][:, None] * rows)
    share = torch.tensor([used[e] for e in range(len(experts))], dtype=x.dtype) / (k * len(x))
    return y, len(experts) * torch.dot(share, p.mean(dim=0))


def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    row = width * itemsize
    local = experts // devices
    sent = {"per_choice": 0, "per_device": 0, "padded": 0}
    for n, wanted in enumerate(chosen.tolist()):
        devices_of = collections.Counter(e // local for e in wanted)
        del devices_of[n // (len(chosen) // devices)]
        sent["per_choice"] += devices_of.total() * row
        sent["per_device"] += len(devices_of) * row
    sent["padded"] = (devices - 1) * experts * slots * row
    return sent


# %% repaired_starter
"""The starter, with the least that has to change."""

import torch


def moe(x, router, experts, k, capacity=None):
    """The outputs, and a loss that is small where experts are used evenly."""
    p = (x @ router).softmax(1)
    chosen = p.sort(dim=1, descending=True, stable=True).indices[:, :k]
    gates = p.gather(1, chosen)
    gates = gates / gates.sum(1, keepdim=True)
    y = x.new_zeros(len(x), experts.shape[2])
    kept = places(chosen, len(experts), capacity)
    for e, weight in enumerate(experts):
        asked = (chosen == e) & kept
        token, choice = asked.nonzero(as_tuple=True)
        rows = gates[token, choice, None] * (x[token] @ weight)
        y = y.index_add(0, token, rows)
    counts = torch.bincount(chosen.flatten(), minlength=len(experts)).to(x.dtype)
    balance = len(experts) * (counts / chosen.numel() * p.mean(0)).sum()
    return y, balance


def places(chosen, experts, capacity):
    """Which requests find a place."""
    if capacity is None:
        return torch.ones_like(chosen, dtype=torch.bool)
    queue = chosen.T.flatten()
    asked = torch.nn.functional.one_hot(queue, experts)
    before = (asked.cumsum(0) - asked).gather(1, queue[:, None])
    return (before < capacity).reshape(chosen.T.shape).T


def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    """What leaves devices when tokens go to their experts."""
    row = width * itemsize
    home = torch.arange(len(chosen)) // (len(chosen) // devices)
    target = chosen // (experts // devices)
    pairs = {(n, int(d)) for n, some in enumerate(target) for d in some if d != home[n]}
    return {
        "per_choice": int((target != home[:, None]).sum()) * row,
        "per_device": len(pairs) * row,
        "padded": devices * (experts - experts // devices) * slots * row,
    }


# %% sorted_logits
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


# %% style_a
"""Style: that of gradient_of_half_the_weights and others, repaired."""

import torch


def moe(x, router, experts, k, capacity=None):
    """The outputs, and a loss that is small where experts are used evenly."""
    p = (x @ router).softmax(1)
    chosen = p.sort(dim=1, descending=True, stable=True).indices[:, :k]
    gates = p.gather(1, chosen)
    gates = gates / gates.sum(1, keepdim=True)
    y = x.new_zeros(len(x), experts.shape[2])
    for e, weight in enumerate(experts):
        token, choice = ((chosen == e) & places(chosen, len(experts), capacity)).nonzero(as_tuple=True)
        y = y.index_add(0, token, gates[token, choice, None] * (x[token] @ weight))
    load = torch.bincount(chosen.flatten(), minlength=len(experts)).to(x.dtype) / chosen.numel()
    balance = len(experts) * (load * p.mean(0)).sum()
    return y, balance


def places(chosen, experts, capacity):
    """Which requests find a place."""
    if capacity is None:
        return torch.ones_like(chosen, dtype=torch.bool)
    queue = chosen.T.flatten()
    asked = torch.nn.functional.one_hot(queue, experts)
    before = (asked.cumsum(0) - asked).gather(1, queue[:, None])
    return (before < capacity).reshape(chosen.T.shape).T


def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    """What leaves devices when tokens go to their experts."""
    row = width * itemsize
    home = torch.arange(len(chosen)) // (len(chosen) // devices)
    target = chosen // (experts // devices)
    pairs = {(n, int(d)) for n, some in enumerate(target) for d in some if d != home[n]}
    return {
        "per_choice": int((target != home[:, None]).sum()) * row,
        "per_device": len(pairs) * row,
        "padded": devices * (experts - experts // devices) * slots * row,
    }


# %% sum_plus_a_billionth
"""Right: the sum that gates are divided by has 1e-9 added, as in well-known layers."""

import collections

import torch


def ranked(p, k):
    found = []
    for row in p.detach():
        left = row.clone()
        mine = []
        for _ in range(k):
            best = int((left == left.max()).nonzero()[0, 0])
            mine.append(best)
            left[best] = -1.0
        found.append(mine)
    return torch.tensor(found)


def moe(x, router, experts, k, capacity=None):
    logits = torch.einsum("nd,de->ne", x, router)
    p = (logits - torch.logsumexp(logits, dim=1, keepdim=True)).exp()
    chosen = ranked(p, k)
    used = collections.Counter()
    served = []
    for choice in range(k):
        for token, e in enumerate(chosen[:, choice].tolist()):
            if capacity is None or used[e] < capacity:
                served.append((token, choice, e))
            used[e] += 1
    weights = p.gather(1, chosen)
    weights = weights / (weights.sum(1, keepdim=True) + 1e-9)
    y = torch.zeros(len(x), experts.shape[2], dtype=x.dtype)
    if served:
        token, choice, e = torch.tensor(served).T
        rows = torch.bmm(x[token][:, None], experts[e])[:, 0]
        y = y.index_add(0, token, weights[token, choice][:, None] * rows)
    share = torch.tensor([used[e] for e in range(len(experts))], dtype=x.dtype) / (k * len(x))
    return y, len(experts) * torch.dot(share, p.mean(dim=0))


def dispatch_bytes(chosen, experts, devices, width, itemsize, slots):
    row = width * itemsize
    local = experts // devices
    sent = {"per_choice": 0, "per_device": 0, "padded": 0}
    for n, wanted in enumerate(chosen.tolist()):
        devices_of = collections.Counter(e // local for e in wanted)
        del devices_of[n // (len(chosen) // devices)]
        sent["per_choice"] += devices_of.total() * row
        sent["per_device"] += len(devices_of) * row
    sent["padded"] = (devices - 1) * experts * slots * row
    return sent
