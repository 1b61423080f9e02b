"""A layer of experts: each token asks for k of them."""

import torch


def moe(x, router, experts, k):
    """The outputs, and a loss that is small where experts are used evenly."""
    p = (x @ router).softmax(1)
    chosen = p.topk(k).indices
    y = x.new_zeros(len(x), experts.shape[2])
    for e, weight in enumerate(experts):
        token, choice = (chosen == e).nonzero(as_tuple=True)
        y = y.index_add(0, token, x[token] @ weight)
    load = torch.bincount(chosen.flatten(), minlength=len(experts)).to(x.dtype) / chosen.numel()
    balance = len(experts) * (load * p.mean(0)).sum()
    return y / k, balance
