"""A layer of experts: each token asks for k of them."""

import torch


def moe(x, router, experts, k):
    """The outputs, and a loss that is small where experts are used evenly."""
    p = (x @ router).softmax(1)
    chosen = p.topk(k).indices
    y = x.new_zeros(len(x), experts.shape[2])
    for e, weight in enumerate(experts):
        asked = chosen == e
        token = asked.nonzero()[:, 0]
        rows = x[token] @ weight
        y = y.index_add(0, token, rows)
    counts = torch.bincount(chosen.flatten(), minlength=len(experts))
    counts = counts.to(x.dtype)
    balance = len(experts) * (counts / chosen.numel() * p.mean(0)).sum()
    return y / k, balance
