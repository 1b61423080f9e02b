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
